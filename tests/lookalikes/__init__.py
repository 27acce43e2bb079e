"""Small, faithful copies of the layouts in which public data sets are released.

Each module holds one data set. Its `write*` functions take the data root and write the layout below
it, as the release does, with a few samples whose truth is known beforehand; they return, in the
release's own order, what a right reader must give for each sample. Nothing here uses a reader of
the package: the truth comes from the scene, not from reading the files back.

Keys of the dictionaries, where they apply:

picture   (H, W, 3) uint8 RGB; `lossy` is True where the release has JPEG, whose pixels drift
depth     (H, W) float32 metres, NaN where there is no reading
normals   (H, W, 3) float32 unit vectors, x right, y up, z towards the camera, NaN where none
valid     (H, W) bool: pixels whose truth is known; no key: all of them
mask      (H, W) bool
labels    class name -> (H, W) bool, of the classes that have a pixel
query     the text asked for;  count, points: of a counting sample
group     what samples of one picture or one scene share
id        only where the layout fixes it
"""
