"""The papers' algorithms as they are printed: loops over documents and words, NumPy, float64, slow.

`lda` is [H10] algorithm 2 and [SVI13] figure 6, `scvb0` is [F13] algorithm 2, `hdp` is [SVI13] figure 9 with
the bound of [W11]. Read them beside docs/derivations.md. Tests compare the compiled models with them.
"""
