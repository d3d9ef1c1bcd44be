package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/declare"
	"github.com/keystile/keystile/cmd/keystile/internal/terminal"
	"github.com/keystile/keystile/internal/admin/groupacts"
	"github.com/keystile/keystile/internal/wholefile"
	"github.com/keystile/keystile/internal/yamljson"
	"github.com/keystile/keystile/storage"
)

const (
	documentsFlag = "f"
	pruneFlag     = "prune"
	secretsFlag   = "secrets"
)

var applyCommands = []command{
	{
		name: "apply", summary: "Make the service what documents say", do: apply, acts: true, brings: true,
		reads: readDocuments, shows: showApplied,
		details: "A document has a kind (group, connector, application, tier, capability, bundle or access), a name,\n" +
			"and the fields of the console's JSON; what it does not say stays as it is. Files hold YAML, documents separated\n" +
			"by ---, or JSON. Secrets stand elsewhere: auth_secret: {env: NAME} or {file: PATH}; so may openapi:\n" +
			"{file: PATH}. It prints each change. A second run changes nothing. A new capability is published after\n" +
			"its access list is written. Secrets that are drawn for new applications are written to --secrets, or\n" +
			"shown once on a terminal.",
		examples: []string{
			"keystile apply -f staff.yaml --dry-run",
			"keystile apply -f deploy/ --secrets new-secrets.json",
			"keystile apply -f deploy/ --prune",
		},
		flags: []cli.Flag{
			{Name: documentsFlag, Value: "FILE|DIR", Help: "the documents; of a folder, all that end in .yaml, .yml or .json; " +
				"- reads the standard input", Many: true, Need: true},
			{Name: dryRunFlag, Help: "print what would change, and change nothing"},
			{Name: pruneFlag, Help: "remove what an earlier apply has made and no document names any more"},
			{Name: secretsFlag, Value: "FILE", Help: "where drawn secrets are written, with mode 0600, beside those that it " +
				"has"},
			{Name: waitFlag, Value: "DURATION", Help: "have the running server apply them, and wait so long for one that " +
				"starts; without it, they are applied here where no server runs"},
		},
	},
	{
		name: "export", summary: "Print what there is as documents for apply", do: export, shows: showExport,
		details: "Secrets and the documents of APIs are not in it: they cannot be read back. Members of groups are not " +
			"either.",
		examples: []string{"keystile export > service.yaml"},
	},
}

// brought holds what apply brings to the process that has the store.
type brought struct {
	Documents []declare.Document `json:"documents"`
	Secrets   bool               `json:"secrets"` // there is a place for secrets that are drawn
}

// readDocuments replaces the names of files by what is in them, and what they refer to: they are read by the process of
// the caller.
func readDocuments(ctx context.Context, call cli.Call) (args cli.Args, err error) {
	b := brought{Secrets: call.Get(secretsFlag) != "" || terminal.Is(call.Stdout)}
	for _, name := range call.Flags[documentsFlag] {
		files, err := filesOf(name)
		if err != nil {
			return call.Args, err
		}
		for _, file := range files {
			text, err := read(file, call.Stdin)
			if err != nil {
				return call.Args, err
			}
			docs, err := declare.Read(ctx, file, text)
			if err != nil {
				return call.Args, plain(err)
			}
			for _, d := range docs {
				if err := d.Resolve(filepath.Dir(file), os.LookupEnv, func(path string) ([]byte, error) {
					return read(path, nil)
				}); err != nil {
					return call.Args, plain(err)
				}
			}
			b.Documents = append(b.Documents, docs...)
		}
	}
	if len(b.Documents) == 0 {
		return call.Args, cli.Usage("there is no document in what -f names")
	}
	if file := call.Get(secretsFlag); file != "" && !call.On(dryRunFlag) {
		if err := keepSecrets(file, nil); err != nil { // before anything is drawn
			return call.Args, err
		}
	}
	text, err := json.Marshal(b)
	args = call.Args
	args.Flags = maps.Clone(args.Flags)
	args.Flags[documentsFlag] = []string{string(text)}
	args.Flags["json"] = []string{"true"}
	return args, err
}

// filesOf returns a file, or the documents in a folder and those below it, by name.
func filesOf(name string) (files []string, err error) {
	if name == "-" {
		return []string{name}, nil
	}
	err = filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
		ends := slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(path)))
		if err == nil && !d.IsDir() && (path == name || ends) {
			files = append(files, path)
		}
		return err
	})
	return files, err
}

func (r Target) declared(ctx context.Context) (*declare.Applier, error) {
	who, err := operator(ctx, r)
	if err != nil {
		return nil, err
	}
	return declare.New(declare.Config{
		Store: r.Store, By: r.By, Apps: r.apps(), Tools: r.tools(), Registry: r.Registry, Owner: who,
		Connectors: r.Connectors,
		Groups:     groupacts.New(groupacts.Config{Store: r.Store, Recorder: r.Recorder}),
		User:       func(ctx context.Context, name string) (storage.User, error) { return userOf(ctx, r.Store, name) },
	}), nil
}

// applied is the output of apply.
type applied struct{ declare.Result }

func (a applied) text(bool) (string, error) { return line(a.Result) }

func apply(ctx context.Context, target Target, args cli.Args) (output, error) {
	var b brought
	if err := json.Unmarshal([]byte(args.Get(documentsFlag)), &b); err != nil {
		return nil, cli.Usage("-f names files")
	}
	a, err := target.declared(ctx)
	if err != nil {
		return nil, err
	}
	result, err := a.Apply(ctx, b.Documents, declare.Options{DryRun: args.On(dryRunFlag), Prune: args.On(pruneFlag),
		NoSecrets: !b.Secrets})
	if err != nil && len(result.Steps)+len(result.Secrets) > 0 { // what was drawn must not be lost
		result.Failed, err = strings.ReplaceAll(err.Error(), storage.ErrInvalid.Error()+": ", ""), nil
	}
	return applied{result}, err
}

// showApplied prints what was done, and puts secrets where they belong.
func showApplied(call cli.Call, said string) (string, error) {
	var r declare.Result
	if err := json.Unmarshal([]byte(said), &r); err != nil {
		return "", err
	}
	if file := call.Get(secretsFlag); file != "" && len(r.Secrets) > 0 {
		if err := keepSecrets(file, r.Secrets); err != nil {
			return said, err // they are nowhere else
		}
		r.Secrets = nil
	}
	var failed error
	if r.Failed != "" {
		failed = errors.New(r.Failed)
	}
	if call.On("json") {
		text, err := line(r)
		return text, errors.Join(failed, err)
	}
	var out strings.Builder
	same := 0
	for _, s := range r.Steps {
		if s.Action == declare.None {
			same++
			continue
		}
		fmt.Fprintf(&out, "%s %s %s\n", s.Action, s.Kind, field{value: s.Name}.shown())
		for _, c := range s.Changes {
			fmt.Fprintf(&out, "    %s: %s\n", c.Field, field{value: c.Text()}.shown())
		}
	}
	fmt.Fprintf(&out, "%d unchanged\n", same)
	for _, name := range slices.Sorted(maps.Keys(r.Secrets)) {
		fmt.Fprintf(&out, "%s, shown this once:\n", name)
		for _, what := range slices.Sorted(maps.Keys(r.Secrets[name])) {
			fmt.Fprintf(&out, "    %s: %s\n", what, r.Secrets[name][what])
		}
	}
	return out.String(), failed
}

// keepSecrets adds secrets to those in a file.
func keepSecrets(file string, more map[string]map[string]string) error {
	all := map[string]map[string]string{}
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case json.Unmarshal(text, &all) != nil:
		return fmt.Errorf("--%s %s: it is no file of secrets: name another one", secretsFlag, file)
	}
	maps.Copy(all, more)
	if text, err = json.MarshalIndent(all, "", "  "); err != nil {
		return err
	}
	return wholefile.Write(file, append(text, '\n'))
}

// exported is the output of export.
type exported []declare.Document

func (e exported) text(bool) (string, error) { return line([]declare.Document(e)) }

func export(ctx context.Context, target Target, _ cli.Args) (output, error) {
	a, err := target.declared(ctx)
	if err != nil {
		return nil, err
	}
	docs, err := a.Export(ctx)
	return exported(docs), err
}

// showExport prints documents as YAML, or with --json as a list.
func showExport(call cli.Call, said string) (string, error) {
	var docs []declare.Document
	if err := json.Unmarshal([]byte(said), &docs); err != nil {
		return "", err
	}
	list := []answer{}
	var texts []string
	for _, d := range docs {
		flat := answer{{"kind", d.Kind}, {"name", d.Name}}
		for _, name := range slices.Sorted(maps.Keys(d.Fields)) {
			flat = append(flat, field{name, d.Fields[name]})
		}
		list = append(list, flat)
		text, err := json.Marshal(flat)
		if err == nil {
			text, err = yamljson.YAML(text)
		}
		if err != nil {
			return "", err
		}
		texts = append(texts, string(text))
	}
	if call.On("json") {
		return line(list)
	}
	return strings.Join(texts, "---\n"), nil
}
