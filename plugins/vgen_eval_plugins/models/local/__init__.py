"""What models on this machine share: hub revisions, devices, memory."""
