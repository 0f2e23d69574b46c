"""What can be exported, a file each."""
