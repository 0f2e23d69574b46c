"""What a model's topics say: leading words, names, coherence, likeness, repeats, and changes over time."""
