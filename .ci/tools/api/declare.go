package main

import (
	"bytes"
	"fmt"
	"go/constant"
	"go/format"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// writeDown writes the declarations of what is exported into a new folder, a file for each package, and demands
// that reading them shows no difference.
func (a *api) writeDown(folder string) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	for path, names := range a.reachable() {
		file := filepath.Join(folder, filepath.FromSlash(a.short(path))+".go")
		text, err := a.declare(a.all[path], names)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(file), 0o755)
		}
		if err == nil {
			err = os.WriteFile(file, text, 0o644)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	again, err := readDown(folder, a)
	if err != nil {
		return err
	}
	for _, c := range compare(again, a, promises{}) {
		return fmt.Errorf("what was written says something else than the sources: %v", c)
	}
	return nil
}

// declare writes one package.
func (a *api) declare(p *types.Package, names []string) ([]byte, error) {
	d := &declaring{api: a, of: p, imports: map[string]string{}}
	for _, name := range names {
		d.object(p.Scope().Lookup(name))
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "package %s // import %q\n\n", p.Name(), p.Path())
	for _, path := range slices.Sorted(maps.Keys(d.imports)) {
		name := d.imports[path]
		if name == filepath.Base(path) {
			name = ""
		}
		fmt.Fprintf(&out, "import %s %q\n", name, path)
	}
	out.Write(d.body.Bytes())
	return format.Source(out.Bytes())
}

type declaring struct {
	api     *api
	of      *types.Package
	imports map[string]string // the name of each imported package, by its path
	body    bytes.Buffer
}

// qualified names a package in the text, and imports it. Two of one name get different ones.
func (d *declaring) qualified(p *types.Package) string {
	if p == d.of {
		return ""
	}
	if d.imports[p.Path()] == "" {
		name := p.Name()
		for slices.Contains(slices.Collect(maps.Values(d.imports)), name) {
			name += "_"
		}
		d.imports[p.Path()] = name
	}
	return d.imports[p.Path()]
}

func (d *declaring) object(o types.Object) {
	switch o := o.(type) {
	case *types.Const:
		of := " " + types.TypeString(o.Type(), d.qualified)
		if b, is := o.Type().(*types.Basic); is && b.Info()&types.IsUntyped != 0 {
			of = ""
		}
		fmt.Fprintf(&d.body, "\nconst %s%s = %s\n", o.Name(), of, literal(o.Val()))
	case *types.TypeName:
		d.typeName(o)
	default: // a function or a variable
		text := types.ObjectString(o, d.qualified)
		if f, is := o.(*types.Func); is && f.Signature().TypeParams().Len() > 0 {
			text += " {}" // the type checker demands a body of these alone
		}
		fmt.Fprintf(&d.body, "\n%s\n", text)
	}
}

// literal is exact, where String is for people.
func literal(v constant.Value) string {
	if v.Kind() == constant.Float {
		if f, exact := constant.Float64Val(v); exact {
			return fmt.Sprintf("%g", f)
		}
	}
	return v.ExactString()
}

func (d *declaring) typeName(o *types.TypeName) {
	named, is := o.Type().(*types.Named)
	if o.IsAlias() || !is {
		fmt.Fprintf(&d.body, "\n%s\n", types.ObjectString(o, d.qualified))
		return
	}
	head := types.TypeString(named, d.qualified) // with its parameters
	if params := named.TypeParams(); params.Len() > 0 {
		bounds := make([]string, params.Len())
		for i := range bounds {
			bounds[i] = params.At(i).Obj().Name() + " " + types.TypeString(params.At(i).Constraint(), d.qualified)
		}
		head = o.Name() + "[" + strings.Join(bounds, ", ") + "]"
	}
	fmt.Fprintf(&d.body, "\ntype %s %s\n", head, types.TypeString(exported(named.Underlying()), d.qualified))
	for m := range methodsOf(named) {
		var signature bytes.Buffer
		types.WriteSignature(&signature, m.Signature(), d.qualified)
		fmt.Fprintf(&d.body, "func (%s) %s%s\n", types.TypeString(m.Signature().Recv().Type(), d.qualified), m.Name(),
			&signature)
	}
}
