"""From a folder of somebody's data to a task: its card, its manifest, and a look at its truth."""
