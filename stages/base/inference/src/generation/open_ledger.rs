//! A ledger that a run reads and adds to, flushed often enough that a kill loses little.

use std::path::Path;
use std::time::{Duration, Instant};

use almanac_artifact::{Ledger, LedgerRecord, LedgerWriter, Result};

/// When records are made durable, whichever comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlushPolicy {
    /// After this many records.
    pub records: usize,
    /// After this long.
    pub interval: Duration,
}

/// What is in a ledger, with what this run adds.
#[derive(Debug)]
pub struct OpenLedger<R: LedgerRecord> {
    ledger: Ledger<R>,
    writer: LedgerWriter<R>,
    policy: FlushPolicy,
    flushed: Instant,
}

impl<R: LedgerRecord> OpenLedger<R> {
    /// Reads the ledger in `folder`.
    pub fn open(folder: &Path, policy: FlushPolicy) -> Result<Self> {
        Ok(Self::new(Ledger::open(folder)?, policy))
    }

    /// A `ledger` that was read.
    pub fn new(ledger: Ledger<R>, policy: FlushPolicy) -> Self {
        let writer = ledger.writer();
        Self { ledger, writer, policy, flushed: Instant::now() }
    }

    /// The records, for a projection.
    pub fn records(&self) -> &Ledger<R> {
        &self.ledger
    }

    /// The record with this key.
    pub fn get(&self, key: &str) -> Option<&R> {
        self.ledger.get(key)
    }

    /// Adds a record; it is durable after the next flush.
    pub fn put(&mut self, record: R) -> Result<()> {
        self.writer.append(record.clone());
        self.ledger.absorb(record);
        let due =
            self.writer.pending() >= self.policy.records || self.flushed.elapsed() >= self.policy.interval;
        if due { self.flush() } else { Ok(()) }
    }

    /// Makes what was added durable when its time has come, though no record follows it for long.
    pub fn flush_when_due(&mut self) -> Result<()> {
        if self.writer.pending() > 0 && self.flushed.elapsed() >= self.policy.interval {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// How long until [`flush_when_due`](Self::flush_when_due) has something to do, at least.
    pub fn until_due(&self) -> Duration {
        self.policy.interval.saturating_sub(self.flushed.elapsed()).max(Duration::from_millis(50))
    }

    /// Makes everything added durable.
    pub fn flush(&mut self) -> Result<()> {
        self.flushed = Instant::now();
        self.writer.flush()
    }

    /// Reads again what is there, for records that other tasks have added since.
    pub fn reload(&mut self) -> Result<()> {
        self.flush()?;
        self.ledger.reload()
    }

    /// Flushes, merges this run's files into one and gives back the records. A run that comes after the
    /// tasks of an array merges their files too.
    pub fn finish(self, after_tasks: bool) -> Result<Ledger<R>> {
        if after_tasks {
            self.writer.finish_all()?
        } else {
            self.writer.finish()?
        }
        Ok(self.ledger)
    }
}
