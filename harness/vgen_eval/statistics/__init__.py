"""What can be said of a score beside the score: intervals, errors, tests, power, ranks.

Samples of one picture or scene are not independent of one another: everything here counts whole
groups (clusters), and a data set's own values (mIoU, cIoU, rank correlations) are made again from
the samples' statistics each time, never as means of means. docs/statistics.md says which method
is used when, and how far it can be trusted.

Names are loaded when they are first used: records need no numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vgen_eval.statistics.records import MIN_GROUPS, RESAMPLES, Interval, Permutation

if TYPE_CHECKING:
    from vgen_eval.statistics.agreement import (
        Pairwise,
        pairwise_accuracy,
        pairwise_auc,
        roc_auc,
        tie_credits,
    )
    from vgen_eval.statistics.bootstrap import (
        bootstrap_mean,
        bootstrap_merged,
        bootstrap_pooled,
        bootstrap_several,
        bootstrap_weighted,
    )
    from vgen_eval.statistics.corrections import adjust, benjamini_hochberg, holm
    from vgen_eval.statistics.errors import cluster_deviation, standard_error
    from vgen_eval.statistics.permutation import permute_mean, permute_merged, permute_pooled
    from vgen_eval.statistics.power import groups_needed, smallest_difference
    from vgen_eval.statistics.ranking import (
        Agreement,
        Wins,
        kendall_tau,
        kendall_w,
        pairwise_wins,
        ranks,
    )
    from vgen_eval.statistics.raters import cohen_kappa, krippendorff_alpha, plain_agreement

_HOMES = {
    "agreement": ("Pairwise", "pairwise_accuracy", "pairwise_auc", "roc_auc", "tie_credits"),
    "bootstrap": (
        "bootstrap_mean",
        "bootstrap_merged",
        "bootstrap_pooled",
        "bootstrap_several",
        "bootstrap_weighted",
    ),
    "corrections": ("adjust", "benjamini_hochberg", "holm"),
    "errors": ("cluster_deviation", "standard_error"),
    "permutation": ("permute_mean", "permute_merged", "permute_pooled"),
    "power": ("groups_needed", "smallest_difference"),
    "ranking": ("Agreement", "Wins", "kendall_tau", "kendall_w", "pairwise_wins", "ranks"),
    "raters": ("cohen_kappa", "krippendorff_alpha", "plain_agreement"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "MIN_GROUPS",
    "RESAMPLES",
    "Agreement",
    "Interval",
    "Pairwise",
    "Permutation",
    "Wins",
    "adjust",
    "benjamini_hochberg",
    "bootstrap_mean",
    "bootstrap_merged",
    "bootstrap_pooled",
    "bootstrap_several",
    "bootstrap_weighted",
    "cluster_deviation",
    "cohen_kappa",
    "groups_needed",
    "holm",
    "kendall_tau",
    "kendall_w",
    "krippendorff_alpha",
    "pairwise_accuracy",
    "pairwise_auc",
    "pairwise_wins",
    "permute_mean",
    "permute_merged",
    "permute_pooled",
    "plain_agreement",
    "ranks",
    "roc_auc",
    "smallest_difference",
    "standard_error",
    "tie_credits",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'vgen_eval.statistics' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f"vgen_eval.statistics.{_HOME_OF[name]}"), name)
