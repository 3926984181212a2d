"""A study that measures itself, importable by workers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinetarium.batch.study import Findings, Outcome, Study
from kinetarium.figure.text import Column, Table
from kinetarium.recording.recording import Channel, Recording, Row


@dataclass(frozen=True, kw_only=True)
class Config:
    """A time.

    Attributes:
        measured: What a run says that it measured [s].
    """

    measured: float = 0.25


class Timed(Study[Config, Config]):
    name, help, title, config, case = "timed", "measure", "Measured", Config, Config

    def cases(self, config: Config) -> Sequence[Config]:
        return [config]

    def run(self, case: Config) -> Recording:
        time = Channel(np.arange(3.0), "s")
        measured = case.measured if case.measured >= 0 else float("nan")
        return Recording({"time": time}, "running", timing={"tick_s": measured, "cpu_s": -1.0})

    def score(self, case: Config, recording: Recording) -> Sequence[Row]:
        return [{"samples": len(recording["time"])}]

    def report(self, outcomes: Sequence[Outcome[Config]]) -> Findings:
        seen = tuple((outcome.timing.get("tick_s"),) for outcome in outcomes)
        return Findings(Table("", (Column("tick", "s"),), seen), (), {}, lead="Times.")
