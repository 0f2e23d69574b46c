"""Latent Dirichlet allocation by stochastic collapsed variational Bayes: [F13]."""

from wikitopics.model.scvb0.online import SCVB0

__all__ = ["SCVB0"]
