"""Puzzles in video with one right answer: mazes and the tower of Hanoi."""

from __future__ import annotations

_HERE = "vgen_eval_plugins.video.puzzles"

DATASETS = {"puzzles": f"{_HERE}.reader:Puzzles"}
DECODERS = {
    "maze_walk": f"{_HERE}.maze_tracking:MazeWalk",
    "hanoi_stacks": f"{_HERE}.hanoi_tracking:HanoiStacks",
    "unsolved": f"{_HERE}.unsolved:UnsolvedValue",
}
ENCODERS = {
    "maze_video": f"{_HERE}.maze_videos:MazeVideo",
    "hanoi_video": f"{_HERE}.hanoi_videos:HanoiVideo",
}
METRICS = {"puzzle": f"{_HERE}.verdict:Puzzle"}
VIEWS = {"puzzle": f"{_HERE}.view:PuzzleView"}
