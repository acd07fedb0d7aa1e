package command

import (
	"bytes"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/docs"
	"github.com/helmholtz-go/helmholtz/runs"
)

// slurmVariable makes TestSweepOnSlurm run, which needs the programs of Slurm and root.
const slurmVariable = "HELMHOLTZ_SLURM_TESTS"

// slurmConf describes a cluster of this machine alone, without accounting. %[1]s is its folder,
// %[2]s the machine, %[3]d its cores, followed by two free ports.
const slurmConf = `ClusterName=helmholtz
SlurmctldHost=%[2]s(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=%[1]s/munge.socket,cred_expire=5
SlurmctldPort=%[4]d
SlurmdPort=%[5]d
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation=%[1]s/state
SlurmdSpoolDir=%[1]s/spool
SlurmctldPidFile=%[1]s/slurmctld.pid
SlurmdPidFile=%[1]s/slurmd.pid
SlurmctldLogFile=%[1]s/slurmctld.log
SlurmdLogFile=%[1]s/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0
KillWait=5
ReturnToService=2
NodeName=%[2]s NodeAddr=127.0.0.1 CPUs=%[3]d RealMemory=2048 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`

// startSlurm starts a cluster on this machine, which ends with the test.
func startSlurm(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"state", "spool"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	conf := filepath.Join(dir, "slurm.conf")
	text := fmt.Sprintf(slurmConf, dir, host, runtime.NumCPU(), freePort(t), freePort(t))
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SLURM_CONF", conf)
	key := filepath.Join(dir, "munge.key")
	if err := os.WriteFile(key, bytes.Repeat([]byte("test"), 32), 0o400); err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, daemon := range [][]string{
		{"munged", "--foreground", "--force", "--key-file", key, "--socket", in("munge.socket"), "--pid-file", in("munged.pid"), "--log-file", in("munged.log"), "--seed-file", in("munged.seed")},
		{"slurmctld", "-D", "-c", "-f", conf},
		{"slurmd", "-D", "-f", conf, "-N", host},
	} {
		c := exec.Command(daemon[0], daemon[1:]...)
		log, err := os.Create(in(daemon[0] + ".out"))
		if err != nil {
			t.Fatal(err)
		}
		c.Stdout, c.Stderr = log, log
		if err := c.Start(); err != nil {
			t.Fatalf("%v: install slurm-wlm and munge", err)
		}
		t.Cleanup(func() {
			_ = c.Process.Signal(os.Interrupt)
			_ = c.Wait()
			log.Close()
		})
		if daemon[0] == "munged" {
			await(t, "munge", func() bool { _, err := os.Stat(in("munge.socket")); return err == nil })
		}
	}
	await(t, "an idle node", func() bool {
		state, _ := exec.Command("sinfo", "-h", "-o", "%T").Output()
		return strings.HasPrefix(string(state), "idle")
	})
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// await polls until a condition is true.
func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	deadline := time.Now().Add(3 * time.Minute)
	for !so() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

const slurmSweep = `
seeds = 2

[base]
epochs = 200

[base.dataset]
name = "miniglyphs"
subset = 320

[base.machine]
layers = [20, 10]

[base.method]
preset = "rws"

[grid]
method.learning_rate = [0.01, 0.02, 0.05, 0.1, 0.2, 0.4]
`

// arrayOf writes the script of docs/sweeps.md into a directory that has the program, and returns the arguments of
// sbatch for an array of tasks of one core that runs a command.
func arrayOf(t *testing.T, dir string, tasks int, command ...string) []string {
	t.Helper()
	page, err := docs.Find("sweeps")
	if err != nil {
		t.Fatal(err)
	}
	_, script, begins := strings.Cut(page.Text, "    #!")
	script, _, ends := strings.Cut(script, "    exit $code\n")
	if !begins || !ends {
		t.Fatal("docs/sweeps.md has no script")
	}
	script = "#!" + strings.ReplaceAll(script, "\n    ", "\n") + "exit $code\n"
	if err := os.WriteFile(filepath.Join(dir, "slurm.sh"), []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return append([]string{fmt.Sprintf("--array=0-%d", tasks-1), "--cpus-per-task=1", "--mem=400M", "--time=5", "--output=slurm-%a.log", "slurm.sh"}, command...)
}

// TestSweepOnSlurm submits a sweep of a dozen runs as an array of four tasks to a real Slurm,
// requeues one of them during training, and kills the program of another, whose share is then
// submitted again. All runs end as they do without Slurm.
func TestSweepOnSlurm(t *testing.T) {
	if os.Getenv(slurmVariable) == "" {
		t.Skip("needs Slurm and root: make slurm")
	}
	startSlurm(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "helmholtz")
	command := func(name string, args ...string) string {
		t.Helper()
		c := exec.Command(name, args...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	if out, err := exec.Command("go", "build", "-o", program, "..").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "rates.toml"), []byte(slurmSweep), 0o644); err != nil {
		t.Fatal(err)
	}
	command(program, "sweep", "run", "rates.toml", "--out", "alone")

	const name = "array"
	submit := func() {
		t.Log(command("sbatch", arrayOf(t, dir, 4, "sweep", "run", "rates.toml", "--out", name, "--shard", "auto")...))
	}
	submit()
	log := func(task int) string {
		text, _ := os.ReadFile(filepath.Join(dir, fmt.Sprintf("slurm-%d.log", task)))
		return string(text)
	}
	await(t, "tasks 0 and 1 to train", func() bool {
		return strings.Contains(log(0), "epoch 2/") && strings.Contains(log(1), "epoch 2/")
	})
	array, _, _ := strings.Cut(command("squeue", "-h", "-o", "%F"), "\n")
	// A signal may arrive while Slurm changes the task: send it until it has an effect.
	await(t, "task 1 to be killed", func() bool {
		_ = exec.Command("scancel", "--full", "--signal=KILL", array+"_1").Run()
		return !slices.Contains(strings.Fields(command("squeue", "-h", "-r", "-o", "%K")), "1")
	})
	await(t, "task 0 to be preempted", func() bool { // as at its time limit
		_ = exec.Command("scancel", "--batch", "--signal=USR1", array+"_0").Run()
		return strings.Contains(log(0), errPreempted.Error())
	})
	await(t, "the end of the array", func() bool { return strings.TrimSpace(command("squeue", "-h")) == "" })

	if !strings.Contains(log(0), "resumed after") {
		t.Errorf("task 0 was not resumed:\n%s", log(0))
	}
	status := command(program, "sweep", "status", name)
	if !strings.Contains(status, string(runs.Interrupted)) {
		t.Errorf("a task was killed, and no run is interrupted:\n%s", status)
	}
	submit()
	await(t, "the end of the second array", func() bool { return strings.TrimSpace(command("squeue", "-h")) == "" })

	wantSameSweep(t, filepath.Join(dir, "alone"), filepath.Join(dir, name))
}

// wantSameSweep compares the runs of a sweep in two directories byte for byte, and the reports
// except for training times.
func wantSameSweep(t *testing.T, alone, other string) {
	t.Helper()
	s, err := runs.OpenSweep(other)
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := s.Jobs(other)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		if state, _, err := j.State(); state != runs.Finished {
			t.Errorf("%v is %s, %v", j, state, err)
			continue
		}
		relative, err := filepath.Rel(other, j.Dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"checkpoint.safetensors", "best.safetensors"} {
			want, err := os.ReadFile(filepath.Join(alone, relative, name))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(filepath.Join(j.Dir, name)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s of %v in %s is another than in %s (%v)", name, j, other, alone, err)
			}
		}
	}
	table := func(dir string) [][]any {
		report, err := s.Report(dir)
		if err != nil {
			t.Fatal(err)
		}
		for i := range report.Settings {
			report.Settings[i].Seconds = runs.Spread{Mean: math.NaN(), SD: math.NaN()}
		}
		return report.ByBest().Table().Rows()
	}
	if diff := cmp.Diff(table(alone), table(other)); diff != "" {
		t.Errorf("the report of %s is another (-%s +%s):\n%s", other, alone, other, diff)
	}
}
