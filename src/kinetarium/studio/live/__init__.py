"""What the page starts: live rooms, studies, and robot files that are dropped on it."""
