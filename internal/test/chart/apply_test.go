package chart

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
)

const documents = `
apply:
  existingSecret: pets
  prune: true
  files:
    pets.json: |
      {"openapi":"3.0.0","info":{"title":"Pets","version":"1"},"paths":{"/pets":{"get":{"operationId":"listPets",
      "responses":{"200":{"description":"<all>"}}}}}}
  documents:
    - {kind: group, name: ops, label: "Operations: \"all\""}
    - {kind: application, name: Shop, domains: [shop.example.com], allow: [group:ops], legacy_success_code: 1}
    - kind: capability
      name: pets
      upstream_url: https://pets.example.com
      openapi: {file: pets.json}
      auth_type: bearer
      auth_secret: {env: PETS_TOKEN}
    - {kind: access, name: pets, rules: [{subject: group:ops}]}
`

// The Job reaches the first node by the volume, so it has to run beside it, and has nothing else of it.
func TestJobRunsBesideTheNodeWhoseVolumeItHas(t *testing.T) {
	for _, name := range []string{"id", "keystile", strings.Repeat("a", 53)} {
		files, err := renderAs(t, name, everything)
		fatal(t, err)
		m := read(t, files)
		pod, node := m.job.Spec.Template.Spec, m.set.Spec.Template
		beside := pod.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
		want := maps.Clone(m.set.Spec.Selector.MatchLabels)
		want["statefulset.kubernetes.io/pod-name"] = m.set.Name + "-0"
		if beside.TopologyKey != core.LabelHostname || !maps.Equal(beside.LabelSelector.MatchLabels, want) {
			t.Errorf("it runs beside %+v", beside)
		}
		c, serves := pod.Containers[0], node.Spec.Containers[0]
		claim := pod.Volumes[0].PersistentVolumeClaim.ClaimName
		if claim != m.set.Spec.VolumeClaimTemplates[0].Name+"-"+m.set.Name+"-0" ||
			c.VolumeMounts[0].MountPath != serves.VolumeMounts[0].MountPath {
			t.Errorf("it has the volume %s at %+v", claim, c.VolumeMounts[0])
		}
		if _, is := m.configs[pod.Volumes[1].ConfigMap.Name]; !is || c.Image != serves.Image ||
			*pod.SecurityContext.FSGroup != *node.Spec.SecurityContext.FSGroup ||
			!*c.SecurityContext.ReadOnlyRootFilesystem || *pod.AutomountServiceAccountToken {
			t.Errorf("it is %+v", pod)
		}
		if len(c.EnvFrom) != 1 || c.EnvFrom[0].SecretRef.Name != "pets" || len(c.Env) != 0 {
			t.Errorf("it knows more than what the documents name: %v, %v", c.EnvFrom, c.Env)
		}
		if hook := m.job.Annotations["helm.sh/hook"]; hook != "post-install,post-upgrade" {
			t.Errorf("it runs at %q", hook)
		}
	}
}

// The Job's arguments, with its ConfigMap and the volume of a node that serves.
func TestJobMakesTheServiceWhatTheDocumentsSay(t *testing.T) {
	m := rendered(t, oneNode+documents)
	volume, config := t.TempDir(), t.TempDir()
	fatal(t, os.Chmod(volume, 0o770|os.ModeSetgid))
	for name, text := range m.configs["id-keystile-documents"].Data {
		fatal(t, os.WriteFile(filepath.Join(config, name), []byte(text), 0o600))
	}
	at := strings.NewReplacer("/etc/keystile", config, "/var/lib/keystile", volume)
	run := func(args ...string) string {
		t.Helper()
		for i := range args {
			args[i] = at.Replace(args[i])
		}
		cmd := exec.Command(program, args...)
		cmd.Env = append(environment(m.job.Spec.Template.Spec.Containers[0]), "PETS_TOKEN=sesame")
		cmd.Stderr = t.Output()
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%q: %v", args, err)
		}
		return string(out)
	}
	first := make(chan string) // it may be there before the service is
	go func() { first <- run(slices.Clone(m.job.Spec.Template.Spec.Containers[0].Args)...) }()
	serving(t, m, volume)
	if said := <-first; strings.Count(said, "create ") != 4 || strings.Contains(said, "sesame") {
		t.Errorf("the first time it says %s", said)
	}
	if said := run(slices.Clone(m.job.Spec.Template.Spec.Containers[0].Args)...); said != "4 unchanged\n" {
		t.Errorf("the second time it says %s", said)
	}
	said := run("export", "--data", "/var/lib/keystile/data")
	for _, want := range []string{`label: 'Operations: "all"'`, "legacy_success_code: 1", "subject: group:ops"} {
		if !strings.Contains(said, want) {
			t.Errorf("without %s: %s", want, said)
		}
	}
	if strings.Contains(said, "publish: false") {
		t.Errorf("the capability is not published: %s", said)
	}
	info, err := os.Stat(filepath.Join(volume, "applied-secrets.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the secrets that were drawn are %v, %v", info, err)
	}
	if users := run("user", "list", "--data", "/var/lib/keystile/data"); !strings.Contains(users, "admin") {
		t.Errorf("the first start has not made what it makes: %s", users)
	}
	if !strings.Contains(m.notes, "logs job/id-keystile-apply") {
		t.Errorf("people are told %s", m.notes)
	}
}
