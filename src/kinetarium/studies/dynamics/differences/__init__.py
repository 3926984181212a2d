"""What two descriptions of a robot differ in, part by part."""
