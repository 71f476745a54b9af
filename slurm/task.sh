# shellcheck shell=bash
# What every Almanac job does around its one command, so that no accident costs a finished record.
# The sbatch files of this folder source it; the scripts that `almanac submit` saves contain it.
#
#   almanac_run COMMAND...      run it, hand signals on, end with its exit code, or requeue
#   almanac_stage STAGE ARGUMENTS...   the same with a stage's binary, found through PATH
#   almanac_require NAME [N]    end with 66 unless job NAME (all of its tasks 1 to N) has succeeded
#
# Set before, as needed:
#   almanac_tasks          folder with one state file per task; empty: none is kept
#   almanac_name           this job's name in it
#   almanac_max_requeues   times a task asks to be started again before it gives up
set -u

almanac_tasks=${almanac_tasks:-}
almanac_name=${almanac_name:-}
almanac_max_requeues=${almanac_max_requeues:-20}
almanac_child=
almanac_signal=
almanac_woken=

# The id of this task alone. SLURM_JOB_ID will not do: for one task of an array it is the whole array's.
almanac_job() {
    if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
        printf '%s_%s' "$SLURM_ARRAY_JOB_ID" "$SLURM_ARRAY_TASK_ID"
    else
        printf '%s' "${SLURM_JOB_ID:-0}"
    fi
}

# almanac_note STATE EXIT: writes this task's state file; a reader sees the old one or the new one.
almanac_note() {
    [ -n "$almanac_tasks" ] || return 0
    local file=$almanac_tasks/$almanac_name${almanac_task:+.$almanac_task}
    printf '{"state":"%s","exit":%d,"job":"%s","restarts":%d,"seconds":%d,"host":"%s"}\n' \
        "$1" "$2" "$(almanac_job)" "${SLURM_RESTART_COUNT:-0}" "$SECONDS" "${SLURMD_NODENAME:-$HOSTNAME}" \
        >"$file.$$" && mv -f "$file.$$" "$file"
}

# A dependency on a job that Slurm has forgotten, or on a task that was cancelled while it waited,
# counts as satisfied. So what came before is looked up in its state files.
almanac_require() {
    local file missing=() name=$1 count=${2:-0} task
    if [ "$count" -eq 0 ]; then
        grep -qs '"state":"done"' "$almanac_tasks/$name" || missing+=("$name")
    else
        for ((task = 1; task <= count; task++)); do
            file=$almanac_tasks/$name.$task
            grep -qs '"state":"done"' "$file" || missing+=("$name.$task")
        done
    fi
    [ "${#missing[@]}" -gt 0 ] || return 0
    printf 'error: not done: %s\n\nhint: submit again; finished records are kept\n' "${missing[*]}" >&2
    almanac_note failed 66
    exit 66
}

almanac_forward() {
    almanac_signal=$1
    almanac_woken=1
    [ -z "$almanac_child" ] || kill -s "$1" "$almanac_child" 2>/dev/null
}

almanac_wait() {
    local code
    while :; do
        almanac_woken=
        wait "$almanac_child"
        code=$?
        # A trapped signal ends `wait`, not the child; 127: its code was given the time before.
        [ "$code" -eq 127 ] || almanac_code=$code
        [ -n "$almanac_woken" ] || break
    done
}

almanac_run() {
    local almanac_code=1
    trap 'almanac_forward USR1' USR1
    trap 'almanac_forward TERM' TERM
    almanac_note running 0
    "$@" &
    almanac_child=$!
    almanac_wait
    # The child has ended: no more signals to hand on, and none may end the bookkeeping.
    trap '' USR1 TERM
    if [ "$almanac_code" -eq 0 ]; then
        almanac_note 'done' 0
    elif [ "$almanac_code" -eq 75 ]; then
        almanac_requeue
    else
        almanac_note failed "$almanac_code"
    fi
    exit "$almanac_code"
}

# Exit 75: everything finished is saved, and there is more. SIGTERM is pre-emption, which requeues by
# itself, or scancel, which must not be undone.
almanac_requeue() {
    if [ "$almanac_signal" = TERM ]; then
        almanac_note interrupted 75
    elif [ "${SLURM_RESTART_COUNT:-0}" -ge "$almanac_max_requeues" ]; then
        printf 'error: stopped after %d restarts\n\nhint: submit again; finished records are kept\n' "$almanac_max_requeues" >&2
        almanac_note failed 75
    else
        almanac_note requeued 75
        scontrol requeue "$(almanac_job)" || almanac_note failed 75
    fi
}

almanac_stage() {
    local stage=$1
    shift
    almanac_run "almanac-$stage" "$@" --color never
}
