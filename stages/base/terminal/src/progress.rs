use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::visible::visible_line;
use crate::{color, format, terminal};

/// Least time between two lines where no bar can be drawn.
const LINE_INTERVAL: Duration = Duration::from_secs(30);
/// Least time between two updates of a bar's text.
const BAR_INTERVAL: Duration = Duration::from_millis(100);
/// Before this a rate says nothing.
const RATE_AFTER: Duration = Duration::from_secs(1);

/// Progress of a piece of work, on standard error: a bar on a terminal, elsewhere at most a line
/// every 30 s, such as `explain 12,400/80,000 records, 310/s, 3m left`. Silent with `-q` and
/// `--no-progress`. It may be shared by threads.
#[derive(Debug)]
pub struct Progress {
    started: Instant,
    bar: Option<ProgressBar>,
    lines: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    meter: Meter,
    /// When the bar's text or the last line was written, since the start.
    shown: Duration,
    has_printed: bool,
}

impl Progress {
    /// Starts to count: `Progress::start("explain", 80_000, "records")`. The total may be `None`.
    pub fn start(what: &str, total: impl Into<Option<u64>>, unit: &str) -> Self {
        let terminal = terminal();
        let wanted = terminal.options.progress && terminal.options.quiet == 0;
        let meter = Meter::new(what, total.into(), unit);
        let bar = (wanted && terminal.stderr_is_terminal).then(|| {
            let bar = terminal.bars.add(match meter.total {
                Some(total) => ProgressBar::new(total),
                None => ProgressBar::new_spinner(),
            });
            bar.set_style(style(meter.total.is_some()));
            bar.set_prefix(color::STATUS.paint(&format!("{:>12}", visible_line(what))));
            bar.set_message(meter.counts());
            bar.enable_steady_tick(Duration::from_millis(250));
            bar
        });
        let lines = wanted && bar.is_none();
        let state = State { meter, shown: Duration::ZERO, has_printed: false };
        Self { started: Instant::now(), bar, lines, state: Mutex::new(state) }
    }

    /// Counts units that were worked on.
    pub fn advance(&self, units: u64) {
        let mut state = self.state();
        state.meter.done += units;
        self.show(&mut state);
    }

    /// Counts units that were there already: they move the count but not the rate, so that a
    /// resumed run does not promise to end too soon.
    pub fn skip(&self, units: u64) {
        let mut state = self.state();
        state.meter.skipped += units;
        self.show(&mut state);
    }

    /// Says what is being worked on, until the next message.
    pub fn set_message(&self, message: &str) {
        let mut state = self.state();
        state.meter.message = visible_line(message).into_owned();
        self.show(&mut state);
    }

    /// Ends the work. The bar disappears; work that printed lines prints a last one.
    pub fn finish(self) {
        let state = self.state();
        if state.has_printed {
            terminal().line("", &state.meter.closing_line(self.started.elapsed()));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show(&self, state: &mut State) {
        let elapsed = self.started.elapsed();
        if let Some(bar) = &self.bar {
            bar.set_position(state.meter.position());
            if state.is_due(elapsed, BAR_INTERVAL) {
                bar.set_message(state.meter.text(elapsed));
            }
        } else if self.lines && state.is_due(elapsed, LINE_INTERVAL) {
            state.has_printed = true;
            terminal().line("", &state.meter.line(elapsed));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
            terminal().bars.remove(bar);
        }
    }
}

fn style(is_bounded: bool) -> ProgressStyle {
    let template =
        if is_bounded { "{prefix} [{bar:24}] {wide_msg}" } else { "{prefix} {spinner} {wide_msg}" };
    ProgressStyle::with_template(template).expect("the templates above are valid").progress_chars("=> ")
}

impl State {
    /// Whether it is time to show the state again; notes that it was shown if so.
    fn is_due(&mut self, elapsed: Duration, interval: Duration) -> bool {
        let due = elapsed >= self.shown + interval;
        if due {
            self.shown = elapsed;
        }
        due
    }
}

/// Counts, and what they say after some time.
#[derive(Debug)]
struct Meter {
    what: String,
    unit: String,
    total: Option<u64>,
    done: u64,
    skipped: u64,
    message: String,
}

impl Meter {
    fn new(what: &str, total: Option<u64>, unit: &str) -> Self {
        Self {
            what: what.to_owned(),
            unit: unit.to_owned(),
            total,
            done: 0,
            skipped: 0,
            message: String::new(),
        }
    }

    fn position(&self) -> u64 {
        self.done + self.skipped
    }

    fn counts(&self) -> String {
        let position = format::count(self.position());
        match self.total {
            Some(total) => format!("{position}/{} {}", format::count(total), self.unit),
            None => format!("{position} {}", self.unit),
        }
    }

    fn text(&self, elapsed: Duration) -> String {
        let mut text = self.counts();
        if self.done > 0 && elapsed >= RATE_AFTER {
            let per_second = self.done as f64 / elapsed.as_secs_f64();
            text += &format!(", {}", format::rate(per_second));
            if let Some(total) = self.total {
                let left = total.saturating_sub(self.position()) as f64 / per_second;
                // Beyond what a duration holds nobody waits for it either.
                if let Ok(left) = Duration::try_from_secs_f64(left) {
                    text += &format!(", {} left", format::rough_duration(left));
                }
            }
        }
        if !self.message.is_empty() {
            text += &format!(": {}", self.message);
        }
        text
    }

    fn line(&self, elapsed: Duration) -> String {
        format!("{} {}", self.what, self.text(elapsed))
    }

    fn closing_line(&self, elapsed: Duration) -> String {
        format!("{} {} in {}", self.what, self.counts(), format::duration(elapsed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(total: Option<u64>, done: u64, skipped: u64) -> Meter {
        Meter { done, skipped, ..Meter::new("explain", total, "records") }
    }

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_line_tells_count_rate_and_time_left() {
        let line = meter(Some(80_000), 12_400, 0).line(seconds(40));
        assert_eq!(line, "explain 12,400/80,000 records, 310/s, 4m left");
    }

    #[test]
    fn what_was_there_already_does_not_count_as_speed() {
        let line = meter(Some(1_000), 10, 900).line(seconds(10));
        assert_eq!(line, "explain 910/1,000 records, 1.0/s, 90s left");
        assert_eq!(meter(Some(9), 0, 9).line(seconds(10)), "explain 9/9 records");
    }

    #[test]
    fn without_a_total_nothing_is_promised() {
        assert_eq!(meter(None, 500, 0).line(seconds(10)), "explain 500 records, 50/s");
    }

    #[test]
    fn a_message_ends_the_line() {
        let mut meter = meter(Some(2), 1, 0);
        meter.message = "src/Field.hpp".to_owned();
        let line = meter.line(seconds(60));
        assert_eq!(line, "explain 1/2 records, 1.0/min, 60s left: src/Field.hpp");
    }

    #[test]
    fn lines_are_at_least_their_interval_apart() {
        let meter = meter(None, 0, 0);
        let mut state = State { meter, shown: Duration::ZERO, has_printed: false };
        let due = [5, 29, 30, 31, 59, 61, 200, 201].map(|at| state.is_due(seconds(at), LINE_INTERVAL));
        assert_eq!(due, [false, false, true, false, false, true, true, false]);
    }

    #[test]
    fn the_last_line_tells_the_time_it_took() {
        let line = meter(Some(3), 3, 0).closing_line(seconds(258));
        assert_eq!(line, "explain 3/3 records in 4m 18s");
    }
}
