"""Latent Dirichlet allocation by variational Bayes: [H10] online and batch, [SVI13] figure 6."""

from wikitopics.model.lda.online import OnlineLDA

__all__ = ["OnlineLDA"]
