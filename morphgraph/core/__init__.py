"""What all rooms stand on: errors, reading files within limits, numbers and texts for people."""
