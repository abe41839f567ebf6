"""Timelines to findings and verdicts: one invariant a file, all of them in one ordered tuple."""

from __future__ import annotations

from forensics.rules import (
    checkpoint_contradiction,
    committed_data_lost,
    epoch_divergence,
    evidence_gap,
    hw_above_isr_member,
    hw_above_leo,
    hw_regression,
    leo_regression,
    replica_divergence,
    segment_damage,
    stale_directory,
    truncation_below_committed,
    two_leaders_one_epoch,
    unclean_election,
    uncommitted_truncation,
)
from forensics.rules.finding import Rule

RULES: tuple[Rule, ...] = (
    # What an operator asks first: is something gone, is something forked, who cut it.
    committed_data_lost.RULE,
    replica_divergence.RULE,
    truncation_below_committed.RULE,
    epoch_divergence.RULE,
    two_leaders_one_epoch.RULE,
    # What may lead there.
    hw_above_leo.RULE,
    leo_regression.RULE,
    hw_regression.RULE,
    hw_above_isr_member.RULE,
    unclean_election.RULE,
    # What is wrong on disk.
    checkpoint_contradiction.RULE,
    segment_damage.RULE,
    stale_directory.RULE,
    # What is good to know.
    uncommitted_truncation.RULE,
    evidence_gap.RULE,
)
"""Every rule, in the order in which verdicts are shown."""
