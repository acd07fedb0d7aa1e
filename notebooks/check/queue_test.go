package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The queue restores from its packed runs every file that results need: checkpoints, kept and best epochs, records
// of divergence and kept evaluations.
func TestTheQueueRestoresWhatItPacked(t *testing.T) {
	root := t.TempDir()
	script, err := os.ReadFile("../queue.sh")
	if err != nil {
		t.Fatal(err)
	}
	files := []string{
		"uci/adult/seed-1/experiment.toml", "uci/adult/seed-1/checkpoint.safetensors", "uci/adult/seed-1/metrics.jsonl",
		"uci/adult/seed-1/best.safetensors", "uci/adult/seed-1/epoch-100.safetensors", "uci/adult/seed-2.diverged.json",
		"mnist-rws/seed-1/experiment.toml", "mnist-rws/seed-1/checkpoint.safetensors", "mnist-rws/seed-1/metrics.jsonl", "mnist-rws/seed-1/epoch-200.safetensors", "mnist-rws/seed-1/epoch-13.safetensors",
		"mnist-rws/seeds.json", "evaluations/log-p.json",
	}
	write := func(path, text string) {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("notebooks/queue.sh", string(script))
	// This go builds a helmholtz that trains nothing.
	write("bin/go", "#!/bin/sh\nprintf '#!/bin/sh\\n' >\"$4\"\nchmod +x \"$4\"\n")
	for _, f := range files {
		write("queue/"+f, f)
	}
	queue := func(command, dir string) {
		c := exec.Command("sh", filepath.Join(root, "notebooks/queue.sh"), command)
		c.Env = append(os.Environ(), "HELMHOLTZ_QUEUE="+filepath.Join(root, dir), "PATH="+filepath.Join(root, "bin")+":"+os.Getenv("PATH"))
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("queue.sh %s: %v\n%s", command, err, out)
		}
	}
	queue("pack", "queue")
	queue("run", "restored")
	for _, f := range files {
		if got, err := os.ReadFile(filepath.Join(root, "restored", f)); err != nil || string(got) != f {
			t.Errorf("%s is restored as %q (%v)", f, got, err)
		}
	}
}
