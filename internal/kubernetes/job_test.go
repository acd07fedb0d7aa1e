// Package kubernetes holds the job that sweeps are submitted with against the types of
// Kubernetes.
package kubernetes

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const sweep = `
[base]
epochs = 1

[base.dataset]
name = "3by3"

[base.machine]
layers = [3]

[base.method]
preset = "ws"

[grid]
method.learning_rate = [0.01, 0.02, 0.03, 0.04, 0.05]
`

// TestIndexedJob has the program write the job of a sweep, decodes it as strictly as the
// server does, and runs what its containers run, with the variables that they have.
func TestIndexedJob(t *testing.T) {
	work := t.TempDir() // the volume
	program := filepath.Join(t.TempDir(), "helmholtz")
	build := exec.Command("go", "build", "-o", program, "./cmd/helmholtz")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(work, "rates.toml"), []byte(sweep), 0o644); err != nil {
		t.Fatal(err)
	}
	in := func(env []string, args ...string) string {
		t.Helper()
		c := exec.Command(program, args...)
		c.Dir, c.Env = work, append(os.Environ(), env...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	in(nil, "sweep", "submit", "rates.toml", "--kubernetes", "--only-write", "--image", "example/helmholtz:1", "--claim", "work", "--out", "rates", "--tasks", "2")
	text, err := os.ReadFile(filepath.Join(work, "rates", "kubernetes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var job batch.Job
	if err := yaml.UnmarshalStrict(text, &job); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	s := job.Spec
	if job.Kind != "Job" || job.APIVersion != batch.SchemeGroupVersion.String() || *s.CompletionMode != batch.IndexedCompletion || *s.Completions != 2 || *s.Parallelism != 2 {
		t.Errorf("the job is not an indexed one of 2 completions:\n%s", text)
	}
	// What Kubernetes asks of a policy of pod failures.
	if s.Template.Spec.RestartPolicy != core.RestartPolicyNever || s.BackoffLimit != nil && s.BackoffLimitPerIndex != nil {
		t.Error("a policy of pod failures needs pods that are never restarted, and one limit")
	}
	container := s.Template.Spec.Containers[0]
	ignored := func(r batch.PodFailurePolicyRule) bool {
		return r.Action == batch.PodFailurePolicyActionIgnore && r.OnExitCodes != nil &&
			*r.OnExitCodes.ContainerName == container.Name && r.OnExitCodes.Operator == batch.PodFailurePolicyOnExitCodesOpIn && slices.Contains(r.OnExitCodes.Values, 75)
	}
	if !slices.ContainsFunc(s.PodFailurePolicy.Rules, ignored) {
		t.Error("a pod that was preempted counts as a failure")
	}
	if container.VolumeMounts[0].MountPath != container.WorkingDir || s.Template.Spec.Volumes[0].PersistentVolumeClaim.ClaimName != "work" {
		t.Errorf("the containers do not begin on the volume:\n%s", text)
	}
	var env []string
	for _, v := range container.Env {
		env = append(env, v.Name+"="+v.Value)
	}
	for _, index := range []string{"0", "1"} {
		in(append(env, "JOB_COMPLETION_INDEX="+index), container.Command[1:]...)
		want := map[string]string{"0": "finished     3\nwaiting      2\n", "1": "finished     5\n"}[index]
		if status := in(nil, "sweep", "status", "rates"); !strings.HasPrefix(status, want) {
			t.Errorf("after pod %s the sweep is\n%s", index, status)
		}
	}
}
