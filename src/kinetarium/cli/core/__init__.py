"""What all commands share: arguments, the console, running cases."""
