#!/bin/sh
# Trains the machines of the published figures at their published length, on one thread and at low
# priority, one result after another:
#
#   notebooks/queue.sh run     resume the queue; if DIR is empty, resume from the packed runs
#   notebooks/queue.sh unpack  copy the packed runs to DIR, unless DIR has them
#   notebooks/queue.sh pack    copy training runs and kept evaluations to pretrained/unfinished, to be committed
#   notebooks/queue.sh list    list the results of the queue, in order
#
# Training runs are in DIR, which is HELMHOLTZ_QUEUE or build/queue. Commit before you run: findings
# name the commit at which they were trained. The queue may be stopped at any time. It omits results
# that have findings at full length in notebooks/results, except those that have to be trained anew.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
dir=${HELMHOLTZ_QUEUE:-$root/build/queue}
case $dir in /*) ;; *) dir=$PWD/$dir ;; esac
packed=$root/pretrained/unfinished

# In the order of issue and budget: results without training, the BiHM of the BiHM thesis, the
# float32 check of MNIST at the published rates, other machines of the BiHM thesis, two tables of
# our own, faces in the order of their hours, K by rows and short results, the rest, and last timed results.
queue='varady/fig6.10 varady/figA.1
bihm/fig3.7 bihm/fig3.8
bihm/fig3.1 bihm/fig3.5 bihm/fig3.6 bihm/fig3.11 bihm/fig4.1 bihm/fig4.2 bihm/fig4.3
bihm/fig3.2
fixed-point
bihm/fig3.3 bihm/table3.3 bihm/text3.7.2
uci-columns/mushrooms estimators/mnist
varady/figC.2
varady/fig7.9 varady/fig7.8
varady/figC.6 varady/fig5.8
natural-rbm
bihm/text3.6.2 bihm/fig3.9 bihm/fig3.10
varady/fig5.6 varady/table5.1
varady/figC.4
varady/fig5.5 varady/fig5.6-rates varady/table5.1-others
varady/fig5.10 varady/table5.3
varady/fig5.7 varady/table5.2 varady/fig5.9 varady/text5.3.7-dnrws
varady/text5.3.7 varady/figC.3 varady/fig5.4
varady/fig5.18 varady/fig5.19 varady/figC.5
bihm/table3.1 bihm/table4.1 bihm/text3.7.4
boltzmann/inpainting
bihm/text3.7.1'

# Results that were made before their trainings changed, as the page of results says.
again='bihm/table3.1'

# restore copies packed training runs into DIR, unless DIR has them.
restore() {
	[ -d "$packed" ] || return 0
	(cd "$packed" && find . -name experiment.toml -exec dirname {} \;) | while read -r run; do
		[ -e "$dir/$run/experiment.toml" ] && continue
		rm -rf "$dir/$run.part"
		mkdir -p "$dir/$run.part"
		cp -R "$packed/$run/." "$dir/$run.part"
		gunzip -f "$dir/$run.part"/*.gz
		if [ -e "$packed/$run/../seeds.json" ]; then cp "$packed/$run/../seeds.json" "$dir/$(dirname "$run")"; fi
		mv "$dir/$run.part" "$dir/$run"
	done
	(cd "$packed" && find . -name '*.diverged.json') | while read -r lost; do
		[ -e "$dir/$lost" ] && continue
		mkdir -p "$(dirname "$dir/$lost")"
		cp "$packed/$lost" "$dir/$lost"
	done
	if [ -d "$packed/evaluations" ] && [ ! -e "$dir/evaluations" ]; then
		mkdir -p "$dir"
		cp -R "$packed/evaluations" "$dir/evaluations.part"
		gunzip -f "$dir/evaluations.part"/*.gz
		mv "$dir/evaluations.part" "$dir/evaluations"
	fi
}

# pack copies what a run needs to resume, the kept epochs and the best one, and records of divergence. Of
# large runs it copies no best epoch, and only the kept epochs at which other results end. It also copies
# finished runs, since a result may use several runs. It omits runs without a checkpoint.
pack() {
	if [ ! -d "$dir" ]; then
		echo "queue.sh: there are no training runs in $dir: set HELMHOLTZ_QUEUE to their folder, or run the queue first" >&2
		exit 1
	fi
	rm -rf "$packed.new"
	mkdir -p "$packed.new"
	# A separate module, which the module of pretrained machines excludes.
	printf 'module github.com/helmholtz-go/helmholtz/pretrained/unfinished\n\ngo 1.26\n' >"$packed.new/go.mod"
	(cd "$dir" && find . -name experiment.toml -not -path './smoke/*' -exec dirname {} \;) | while read -r run; do
		if [ ! -e "$dir/$run/checkpoint.safetensors" ]; then continue; fi
		mkdir -p "$packed.new/$run"
		kept='best.safetensors epoch-*.safetensors'
		case ${run#./} in
		mnist-* | fashion-* | faces-* | large-faces-* | bihm-*)
			kept=
			for epoch in 5 13 50 100 200 500 1000 2000; do kept="$kept epoch-$epoch.safetensors"; done
			;;
		esac
		for name in experiment.toml checkpoint.safetensors clock.json sessions.jsonl metrics.jsonl $kept; do
			for file in "$dir/$run"/$name; do
				if [ -e "$file" ]; then cp "$file" "$packed.new/$run"; fi
			done
		done
		gzip -9n "$packed.new/$run"/*.safetensors "$packed.new/$run"/metrics.jsonl
		if [ -e "$dir/$run/../seeds.json" ]; then cp "$dir/$run/../seeds.json" "$packed.new/$(dirname "$run")"; fi
	done
	(cd "$dir" && find . -name '*.diverged.json' -not -path './smoke/*') | while read -r lost; do
		mkdir -p "$(dirname "$packed.new/$lost")"
		cp "$dir/$lost" "$packed.new/$lost"
	done
	if [ -d "$dir/evaluations" ]; then
		cp -R "$dir/evaluations" "$packed.new/evaluations"
		gzip -9n "$packed.new/evaluations"/*.json
	fi
	rm -rf "$packed"
	mv "$packed.new" "$packed"
	du -sh "$packed"
}

case ${1:-} in
list)
	printf '%s\n' "$queue"
	;;
unpack)
	restore
	;;
pack)
	pack
	;;
run)
	restore
	mkdir -p "$dir"
	(cd "$root" && go build -buildvcs=auto -o "$dir/helmholtz" ./cmd/helmholtz)
	export GOMAXPROCS=1
	printf '%s\n' "$queue" | {
		failed=0
		while read -r line; do
			ids=
			for id in $line; do
				finding=$root/notebooks/results/$(echo "$id" | tr / -).full.json
				[ -e "$finding" ] || ids="$ids $id"
				case " $again " in *" $id "*) ids="$ids $id" ;; esac
			done
			[ "$ids" ] || continue
			# shellcheck disable=SC2086 # several ids
			nice -n 19 "$dir/helmholtz" reproduce $ids --scale full --dir "$dir" </dev/null && continue
			failed=$?
			if [ $failed -eq 130 ]; then break; fi # interrupted
		done
		exit $failed
	}
	;;
*)
	sed -n 's/^# \{0,1\}//p' "$0" | sed -n '2,12p'
	exit 2
	;;
esac
