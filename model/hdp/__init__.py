"""The hierarchical Dirichlet process: [SVI13] figure 9 online, [W11] in batch."""

from wikitopics.model.hdp.online import OnlineHDP

__all__ = ["OnlineHDP"]
