"""From a source to counted documents in order: opening it, reading ahead, counting in processes."""
