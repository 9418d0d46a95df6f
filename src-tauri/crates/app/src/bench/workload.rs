//! The shapes: which steps a run has, and whose replies each of them is told.

use serde::Serialize;

/// What is carried out. One model call a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Workload {
    /// A chain of 100 steps.
    A,
    /// Independent steps, 64 unless said otherwise, and one that joins them.
    B,
    /// 20 rounds of writing and reviewing.
    C,
    /// A chain of 1,000 steps.
    D,
    /// 50 runs at once, each a chain of 20 steps.
    E,
    /// A chain of 30 steps, to be killed in the middle of.
    K,
}

/// How the steps of one run follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Each is told the reply of the one before it.
    Chain(u32),
    /// All at once; one more is told all their replies.
    Join(u32),
    /// Rounds of two: the first writes what the review before it asked for, the second reviews that.
    Rounds(u32),
}

impl Workload {
    /// How many runs it has, side by side.
    pub fn runs(self) -> u32 {
        match self {
            Self::A | Self::B | Self::C | Self::D | Self::K => 1,
            Self::E => 50,
        }
    }

    /// How many steps all its runs have together.
    pub fn steps(self, width: u32) -> u32 {
        self.runs()
            * match self.shape(width) {
                Shape::Chain(steps) => steps,
                Shape::Join(steps) => steps + 1,
                Shape::Rounds(rounds) => rounds * 2,
            }
    }

    pub(super) fn shape(self, width: u32) -> Shape {
        match self {
            Self::A => Shape::Chain(100),
            Self::B => Shape::Join(width),
            Self::C => Shape::Rounds(20),
            Self::D => Shape::Chain(1_000),
            Self::E => Shape::Chain(20),
            Self::K => Shape::Chain(30),
        }
    }

    /// Its letter, small.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::B => "b",
            Self::C => "c",
            Self::D => "d",
            Self::E => "e",
            Self::K => "k",
        }
    }
}
