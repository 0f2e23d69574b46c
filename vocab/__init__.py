"""The fixed vocabulary: prose to word counts; building one."""
