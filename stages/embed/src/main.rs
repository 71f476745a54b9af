//! `almanac-embed`: entities, explanations and summaries to chunks and vectors.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use almanac_artifact::Shard;
use almanac_catalog::EMBED;
use almanac_embed::{
    EmbedCounts, EmbedLimits, Params, Prepared, RunSettings, Sources, VectorIdentity, chunk_all,
    embed_missing, left_of_all, prepare, project,
};
use almanac_generation::ConfiguredModels;
use almanac_inference::{Embedder, FlushPolicy, OpenLedger};
use almanac_stage::{Context, Counts, Implementation, Outcome, Output};
use almanac_tables::{Chunk, Embedding, EmbeddingRecord};
use almanac_terminal::Progress;

fn main() -> ExitCode {
    almanac_stage::main(&EMBED, Implementation { run, model: ConfiguredModels::digest, import: None })
}

fn run(context: &Context, output: &mut Output) -> miette::Result<Outcome> {
    let params: Params = context.params()?;
    let settings: RunSettings = context.run_settings()?;
    let chunks = chunks(context, &params)?;
    let models = ConfiguredModels::load(context.settings())?;
    let name = ConfiguredModels::name(context.settings(), "embed.params.model", "models.embedder")?;
    let embedder = models.embedder(&name, context.threads())?;
    let shape = models.catalog().get(&name)?.embedding.as_ref();
    let identity = VectorIdentity {
        model_digest: embedder.identity().digest.clone(),
        prefix: shape.map_or_else(String::new, |shape| shape.document_prefix.clone()),
    };
    let prepared = prepare(&chunks, &embedder, &identity, &params, context.interrupted())?;
    if context.is_interrupted() {
        let total = chunks.len() as u64;
        return Ok(Outcome::Interrupted(Counts { total, missing: total, ..Counts::default() }));
    }
    let Embedded { counts, left, rows } = embed(context, &settings, &prepared, &embedder)?;
    let missing = chunks.len() - rows.len();
    let report = Counts {
        total: chunks.len() as u64,
        reused: counts.reused as u64,
        generated: counts.embedded as u64,
        missing: missing as u64,
        ..Counts::default()
    };
    if context.is_interrupted() {
        return Ok(Outcome::Interrupted(report));
    }
    output.write(chunks)?;
    output.write(rows)?;
    Ok(if missing == 0 {
        Outcome::Complete(report)
    } else if context.commit_only() {
        Outcome::Gaps(report)
    } else if context.shard().is_some() && left > 0 {
        Outcome::Waiting(report)
    } else {
        Outcome::Partial(report)
    })
}

fn chunks(context: &Context, params: &Params) -> miette::Result<Vec<Chunk>> {
    let sources = Sources {
        files: &context.read("sources")?,
        texts: &context.read("sources")?,
        entities: &context.read("sources")?,
        explanations: &context.read("explanations")?,
        summaries: &context.read("summaries")?,
    };
    Ok(chunk_all(&sources, params))
}

/// What there is after a run.
struct Embedded {
    counts: EmbedCounts,
    /// Texts that other tasks have still to embed.
    left: usize,
    rows: Vec<Embedding>,
}

/// Embeds this task's share and gives every vector there is now, those of other tasks included.
fn embed(
    context: &Context,
    settings: &RunSettings,
    prepared: &[Prepared],
    embedder: &dyn Embedder,
) -> miette::Result<Embedded> {
    let policy = FlushPolicy {
        records: settings.flush_records,
        interval: Duration::from_secs(settings.flush_seconds),
    };
    let keys = prepared.iter().map(|text| text.record_key.clone()).collect();
    let mut ledger = OpenLedger::new(context.ledger_for::<EmbeddingRecord>(keys)?, policy);
    let seconds = if context.commit_only() { Some(0) } else { Some(settings.max_seconds).filter(|s| *s > 0) };
    let limits = EmbedLimits {
        shard: context.shard().unwrap_or(Shard::WHOLE),
        deadline: seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds)),
        most: if settings.max_records == 0 { usize::MAX } else { settings.max_records },
        batch: settings.batch,
        interrupted: context.interrupted(),
    };
    let mut bar: Option<Progress> = None;
    let mut shown = 0;
    let counts = embed_missing(prepared, embedder, &mut ledger, &limits, &mut |now| {
        if now.total == 0 {
            return;
        }
        let bar = bar.get_or_insert_with(|| Progress::start("embed", now.total as u64, "chunks"));
        bar.advance((now.done - shown) as u64);
        shown = now.done;
    })?;
    if let Some(bar) = bar {
        bar.finish();
    }
    if context.shard().is_some() {
        ledger.reload()?;
    }
    let ledger = ledger.finish(context.shard().is_none())?;
    let left = left_of_all(prepared, &ledger, limits.most);
    Ok(Embedded { counts, left, rows: project(prepared, ledger) })
}
