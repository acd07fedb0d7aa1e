package runs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/runs"
)

// The listing is right for runs with two settings, one interrupted, one in training, one damaged
// and one of an unknown family.
func TestRunsAreFoundFilteredAndSorted(t *testing.T) {
	set, root := overlapping(t), t.TempDir()
	slow, fast := brief(set), brief(set)
	slow.Rate, fast.Rate = 0.125, 0.5
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	mustTrain(t, slow, set, at("deep/slow"))
	finished := mustTrain(t, fast, set, at("fast"))
	trainUntilEpoch(t, fast, set, at("half"), 2)
	mustTrain(t, fast, set, at("damaged"))
	mustTrain(t, fast, set, at("cut"))
	replaceFile(t, at("cut/metrics.jsonl"), func(b []byte) []byte { return bytes.Join(bytes.SplitAfter(b, []byte("\n"))[:2], nil) })
	if err := os.WriteFile(at("damaged/metrics.jsonl"), []byte("{\n{\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(at("foreign"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("foreign/experiment.toml"), []byte("family = \"martian\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var during *runs.Table
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	_, _ = runs.Train(ctx, slow, set, at("now"), &watcher{onEpoch: func(runs.Epoch) {
		if during == nil {
			during, _, _ = runs.List(at("now"))
		}
		stop()
	}})
	held, err := file.HoldShared(at("half"), ".lock")
	if err != nil {
		t.Fatal(err)
	}
	lease := filepath.Join(at("half"), file.LeaseFile)
	text, err := os.ReadFile(lease)
	held.Release()
	foreign := regexp.MustCompile(`"system":"[^"]*"`).ReplaceAll(text, []byte(`"system":"another"`))
	if err := errors.Join(err, os.WriteFile(lease, foreign, 0o600)); err != nil {
		t.Fatal(err)
	}
	if away, _, err := runs.List(at("half")); err != nil || len(away.Rows()) != 1 || away.Rows()[0][1] != "running" {
		t.Errorf("while another machine trains it: %v, %v", away, err)
	}
	if err := os.Remove(lease); err != nil {
		t.Fatal(err)
	}
	if len(during.Rows()) != 1 || during.Rows()[0][1] != "running" {
		t.Errorf("while it trains: %v", during)
	}

	list, passed, err := runs.List(root)
	if err != nil || len(passed) != 3 || !strings.Contains(passed[0].Error(), "has 2 epochs") || !strings.Contains(passed[1].Error(), "damaged") || !strings.Contains(passed[2].Error(), "martian") {
		t.Fatalf("%v, passed over: %v", err, passed)
	}
	names := func(list *runs.Table) string {
		var all []string
		for _, row := range list.Rows() {
			name, err := filepath.Rel(root, row[0].(string))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, filepath.ToSlash(name))
		}
		return strings.Join(all, " ")
	}
	if got := names(list); got != "deep/slow fast half now" {
		t.Fatalf("found are %s", got)
	}
	for _, c := range []struct{ where, want string }{
		{"learning_rate=0.5", "fast half"}, {"learning_rate!=0.5", "deep/slow now"}, {"learning_rate<.2", "deep/slow now"}, {"learning_rate>=0.125", "deep/slow fast half now"},
		{"state=interrupted", "half now"}, {"run~deep", "deep/slow"}, {"epoch>1 state!=finished", "half"}, {"best_epoch<=4 epochs==4 state=finished", "deep/slow fast"},
	} {
		got, err := list.Filter(strings.Fields(c.where)...)
		if err != nil || names(got) != c.want {
			t.Errorf("where %s are %v, %v; want %s", c.where, got, err, c.want)
		}
	}
	for condition, want := range map[string]string{"method=" + slow.String(): "deep/slow now", "method~s, η": "deep/slow fast half now"} {
		if got, err := list.Filter(condition); err != nil || names(got) != want {
			t.Errorf("where %s are %v, %v; want %s", condition, got, err, want)
		}
	}
	for by, want := range map[string]string{"learning_rate": "deep/slow now fast half", "-epoch": "deep/slow fast half now"} {
		if got, err := list.SortedBy(by); err != nil || names(got) != want {
			t.Errorf("sorted by %s they are %v, %v; want %s", by, got, err, want)
		}
	}
	_, err = list.Filter("laerning_rate=1")
	wantError(t, err, `no column "laerning_rate" (did you mean "learning_rate"?)`)
	_, err = list.Filter("state=finnished")
	wantError(t, err, `no run is "finnished" (did you mean "finished"?)`)
	_, err = list.Filter("best_epoch<ten")
	wantError(t, err, "best_epoch is a number", `"ten"`)
	_, err = list.Filter("learning_rate")
	wantError(t, err, "not a condition", "NAME=VALUE")

	var written strings.Builder
	if err := list.WriteJSON(&written); err != nil {
		t.Fatal(err)
	}
	var rows []map[string]any
	if err := json.Unmarshal([]byte(written.String()), &rows); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(rows, func(row map[string]any) bool { return row["run"] == at("fast") })
	other := runs.ListOf(at("fast"), slow, settled{slow, "[method]\nlearning_rate = 0.25\n"})
	if text, err := runs.Overview(other, "learning_rate"); err != nil || !strings.Contains(text.String(), "0.25") {
		t.Errorf("with a setting of another name the table is\n%v, %v", text, err)
	}
	last := finished.History().Epochs[3]
	if got := rows[i]; got["learning_rate"] != 0.5 || got["epoch"] != 4.0 || got["validation"] != last.Validation["log_p"] || got["train"] != last.Train["log_p"] || got["best_epoch"] != float64(finished.BestEpoch()) {
		t.Errorf("the row is %v, the last epoch %+v", got, last)
	}
}

// settled is an experiment with the given settings.
type settled struct {
	mixture
	text string
}

func (s settled) TOML() []byte { return []byte(s.text) }

// A short name denotes, in each run, the setting of the run's own family.
func TestASettingIsLookedUpInEachRun(t *testing.T) {
	set, dir := overlapping(t), t.TempDir()
	mustTrain(t, brief(set), set, dir)
	list := func(texts ...string) *runs.Table {
		var all []runs.Experiment
		for _, text := range texts {
			all = append(all, settled{text: text})
		}
		return runs.ListOf(dir, all...)
	}
	const top, method, training = "learning_rate = 0.002", "[method]\nlearning_rate = 0.1", "[training]\nlearning_rate = 0.02"
	const both = method + "\n" + training
	for _, c := range []struct {
		list            *runs.Table
		name, low, high string // the runs whose rate is at most 0.05, and higher
	}{
		{list(top, method), "learning_rate", "a", "b"},
		{list(method, training), "learning_rate", "b", "a"},
		{list(top, method, training), "learning_rate", "ac", "b"},
		{list(top, both), "learning_rate", "a", ""},
		{list(method, method), "method.learning_rate", "", "ab"},
	} {
		dirs := func(list *runs.Table, err error) (all string) {
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range list.Rows() {
				all += row[0].(string)
			}
			return all
		}
		if got, err := c.list.Select("", "learning_rate"); err != nil || got.Columns()[0].Key != c.name || got.Columns()[0].Kind != runs.Number {
			t.Errorf("the column is %v, %v; want %q", got, err, c.name)
		}
		if got := dirs(c.list.Filter("learning_rate<=0.05")); got != c.low {
			t.Errorf("the rate is low in %q, want %q", got, c.low)
		}
		if got := dirs(c.list.Filter("learning_rate>0.05")); got != c.high {
			t.Errorf("the rate is high in %q, want %q", got, c.high)
		}
		if got := dirs(c.list.SortedBy("-learning_rate")); !strings.HasPrefix(got, c.high) {
			t.Errorf("sorted by the rate they are %q, want %q first", got, c.high)
		}
	}
	_, err := list(method, both).Select("", "learning_rate")
	wantError(t, err, `"learning_rate" is ambiguous`, "method.learning_rate or training.learning_rate")
}

// The listing keeps each digit of a seed, and the kinds of settings: whole numbers stay whole.
func TestListedSettingsKeepTheirKind(t *testing.T) {
	set, dir := overlapping(t), t.TempDir()
	mustTrain(t, brief(set), set, dir)
	experiments := []runs.Experiment{
		settled{text: "seed = 9007199254740993\nepochs = 3\n[method]\nrate = 1.0\nlink = \"ä \\\"q\\\"\"\nmixed = 2\nlabels = true"},
		settled{text: "seed = 9007199254740992\nepochs = 0\n[method]\nrate = 0.5\nmixed = \"none\"\nlabels = false"},
	}
	list := runs.ListOf(dir, experiments...)
	for condition, want := range map[string]string{
		"seed=9007199254740992": "b", "seed=9007199254740993": "a", "seed>9007199254740992": "a", `link=ä "q"`: "a", "rate=1": "a", "rate<0.75": "b", "mixed=2": "a", "mixed<10": "a", "labels=true": "a",
	} {
		if got, err := list.Filter(condition); err != nil || len(got.Rows()) != 1 || got.Rows()[0][0] != want {
			t.Errorf("%s: %v, %v; want %s", condition, got, err, want)
		}
	}
	if got, err := list.SortedBy("seed"); err != nil || got.Rows()[0][0] != "b" {
		t.Errorf("sorted by seed: %v, %v", got, err)
	}
	var written strings.Builder
	if some, err := runs.Overview(list, "seed", "method.rate", "method.link", "method.mixed", "method.labels"); err != nil || some.WriteCSV(&written) != nil {
		t.Fatal(err)
	}
	for line, want := range map[int]string{1: `,9007199254740993,1.0,"ä ""q""",2,true`, 2: ",9007199254740992,0.5,,none,false"} {
		if got := strings.Split(written.String(), "\n")[line]; !strings.HasSuffix(got, want) {
			t.Errorf("the row is %s, want the end %s", got, want)
		}
	}
	if text := runs.SettingsTable(experiments[0]).String(); !strings.Contains(text, `  ä "q"`) {
		t.Errorf("the settings are\n%s", text)
	}
}

// A program that was killed between the metrics and the checkpoint of its last epoch has not
// finished.
func TestTheCheckpointSaysWhatIsFinished(t *testing.T) {
	t.Parallel()
	set, whole, dir := overlapping(t), t.TempDir(), t.TempDir()
	e := brief(set)
	mustTrain(t, e, set, whole)
	trainUntilEpoch(t, e, set, dir, e.Epochs-1)
	metrics, err := os.ReadFile(filepath.Join(whole, "metrics.jsonl"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "metrics.jsonl"), metrics, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for want, dir := range map[runs.State]string{runs.Finished: whole, runs.Interrupted: dir} {
		if list, _, err := runs.List(dir); err != nil || len(list.Rows()) != 1 || list.Rows()[0][1] != string(want) {
			t.Errorf("%v is listed (%v), and is %s", list, err, want)
		}
	}
	checkpoint := filepath.Join(whole, "checkpoint.safetensors")
	if err := os.WriteFile(checkpoint, []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, passed, err := runs.List(whole)
	wantError(t, errors.Join(append(passed, err)...), checkpoint, "restore")
	_, _, err = runs.List(checkpoint)
	wantError(t, err, checkpoint, "is a file", "name a folder")
}

// A folder of runs, and a run in it, may be links; a link to another folder is named.
func TestListFollowsLinks(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	tuning := newTuning(t, 12)
	settings, err := tuning.Sweep.Settings()
	if err != nil {
		t.Fatal(err)
	}
	e := settings[0].Experiment
	for _, dir := range []string{filepath.Join(elsewhere, "one"), filepath.Join(root, "two")} {
		mustTrain(t, e, openData(t, e), dir)
	}
	for link, to := range map[string]string{"linked": filepath.Join(elsewhere, "one"), "folder": elsewhere, "all": root} {
		if err := os.Symlink(filepath.Join(root, "two"), filepath.Join(root, "again-"+link)); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(map[bool]string{true: elsewhere, false: root}[link == "all"], link)); err != nil {
			t.Fatal(err)
		}
	}
	all := filepath.Join(elsewhere, "all")
	list, passed, err := runs.List(all)
	if err != nil || len(list.Rows()) != 2 || list.Rows()[0][0] != filepath.Join(all, "linked") || list.Rows()[1][0] != filepath.Join(all, "two") {
		t.Errorf("found %v, error %v", list, err)
	}
	if len(passed) != 1 || !strings.Contains(passed[0].Error(), filepath.Join(all, "folder")) {
		t.Errorf("passed over %v", passed)
	}
}
