package deploy

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// Each rule fires for what it is for, with its texts, not before its time, and not for what it is not for.
func TestAlertFiresForWhatItIsForAndForNothingElse(t *testing.T) {
	installed(t, "promtool")
	all := readRules(t)
	var named []string
	for _, r := range all {
		if named = append(named, r.Alert); trials[r.Alert].at == 0 {
			t.Fatalf("%s is tried on nothing", r.Alert)
		}
	}
	slices.Sort(named)
	if known := slices.Sorted(maps.Keys(trials)); !slices.Equal(named, known) {
		t.Errorf("the rules are %q, and tried are %q", named, known)
	}
	if out := tryRules(t, all); out != "" {
		t.Error(out)
	}
	for name, plant := range map[string]func(r *rule){
		"KeystileStoreRefusesWrites": func(r *rule) { r.Expr = "keystile_store_ready == 1" },
		"KeystileErrors":             func(r *rule) { r.Expr = strings.Replace(r.Expr, "0.02", "0.2", 1) },
		"KeystileLedgerNotMapped":    func(r *rule) { r.Holds = "20m" },
		"KeystileMailsNotTaken":      func(r *rule) { r.Annotations["summary"] = "something is wrong" },
	} {
		for _, r := range readRules(t) {
			if r.Alert != name {
				continue
			}
			right := r
			right.Annotations = maps.Clone(r.Annotations)
			if plant(&r); runTrials(t, []tried{{r, trials[name].tests(t, right)}}) == "" {
				t.Errorf("a wrong %s goes unnoticed", name)
			}
		}
	}
}

func tryRules(t *testing.T, all []rule) string {
	t.Helper()
	var list []tried
	for _, r := range all {
		list = append(list, tried{r, trials[r.Alert].tests(t, r)})
	}
	return runTrials(t, list)
}

// tried is a rule with the tests of promtool that it has to pass.
type tried struct {
	rule  rule
	tests []map[string]any
}

// tests are those of promtool for one rule.
func (c trial) tests(t *testing.T, r rule) []map[string]any {
	t.Helper()
	held, err := time.ParseDuration(r.Holds)
	if err != nil || held <= 0 || held >= c.at {
		t.Fatalf("%s holds for %s (%v) and fires within %v", r.Alert, r.Holds, err, c.at)
	}
	labels, texts := map[string]string{"severity": r.Labels["severity"]}, map[string]string{}
	maps.Copy(labels, c.labels)
	for name, text := range r.Annotations {
		texts[name] = inserted.ReplaceAllStringFunc(text,
			func(s string) string { return labels[inserted.FindStringSubmatch(s)[1]] })
	}
	series := func(lines []string) (all []map[string]string) {
		for _, line := range lines {
			name, values, _ := strings.Cut(line, "\t")
			all = append(all, map[string]string{"series": name, "values": values})
		}
		return all
	}
	at := func(when time.Duration, fires bool) map[string]any {
		is := map[string]any{"eval_time": fmt.Sprintf("%ds", int(when.Seconds())), "alertname": r.Alert}
		if fires {
			is["exp_alerts"] = []any{map[string]any{"exp_labels": labels, "exp_annotations": texts}}
		}
		return is
	}
	return []map[string]any{
		{"interval": "15s", "name": r.Alert + " ill", "input_series": series(c.ill),
			"alert_rule_test": []any{at(held-15*time.Second, false), at(c.at, true)}},
		{"interval": "15s", "name": r.Alert + " well", "input_series": series(c.well),
			"alert_rule_test": []any{at(c.at, false)}},
	}
}

var inserted = regexp.MustCompile(`\{\{ \$labels\.(\w+) \}\}`)

// runTrials has promtool test each rule, alone, and returns what it complains of.
func runTrials(t *testing.T, list []tried) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, content any) {
		text, err := yaml.Marshal(content)
		fatal(t, err)
		fatal(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	args := []string{"test", "rules"}
	for _, c := range list {
		name := c.rule.Alert + ".yaml"
		write(name, map[string]any{"groups": []any{map[string]any{"name": "g", "rules": []rule{c.rule}}}})
		write("test-"+name, map[string]any{"rule_files": []string{name}, "evaluation_interval": "15s", "tests": c.tests})
		args = append(args, "test-"+name)
	}
	cmd := exec.Command("promtool", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err == nil {
		return ""
	}
	return fmt.Sprintf("%v: %s", err, out)
}

func TestPrometheusTakesItsConfiguration(t *testing.T) {
	installed(t, "promtool")
	for _, args := range [][]string{{"check", "config", "--lint-fatal", "prometheus.yml"},
		{"check", "rules", "--lint-fatal", alertsFile}} {
		if out, err := exec.Command("promtool", args...).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
}

var commands = regexp.MustCompile("`keystile ([^`]+)`")

// An operator who is woken reads what to do, and the commands named there are ones that the program has.
func TestAlertSaysWhatToDo(t *testing.T) {
	found := map[string]bool{}
	for _, r := range readRules(t) {
		if s := r.Labels["severity"]; s != "critical" && s != "warning" || len(r.Labels) != 1 {
			t.Errorf("%s has labels %v", r.Alert, r.Labels)
		}
		if r.Annotations["summary"] == "" || len(r.Annotations["runbook"]) < 80 || len(r.Annotations) != 2 {
			t.Errorf("%s says %v", r.Alert, r.Annotations)
		}
		for _, c := range commands.FindAllStringSubmatch(r.Annotations["runbook"], -1) {
			found[c[1]] = true
		}
		for _, other := range regexp.MustCompile(`Keystile[A-Z]\w+`).FindAllString(r.Annotations["runbook"], -1) {
			if _, is := trials[other]; !is {
				t.Errorf("%s sends people to %s, which is no alert", r.Alert, other)
			}
		}
	}
	if len(found) < 4 {
		t.Errorf("only %v are named", found)
	}
	for line := range found {
		words := strings.Fields(line)
		named := slices.IndexFunc(words, func(w string) bool { return strings.ToLower(w) != w || strings.HasPrefix(w, "-") })
		if named < 0 {
			named = len(words)
		}
		out, err := keystile(t, append(slices.Clone(words[:named]), "--help")...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "keystile "+strings.Join(words[:named], " ")) {
			t.Errorf("keystile %s: %v: %s", line, err, out)
		}
		for _, w := range words[named:] {
			if strings.HasPrefix(w, "--") && !strings.Contains(string(out), w+" ") {
				t.Errorf("keystile %s has no %s", line, w)
			}
		}
	}
}
