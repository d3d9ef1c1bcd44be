package main

import (
	"go/types"
	"iter"
	"maps"
	"slices"
)

// reachable returns the names that the API is made of, by package: what the public packages export, and the
// types of the module that this leads to, exported or not.
func (a *api) reachable() map[string][]string {
	r := &reaching{api: a, seen: map[types.Object]bool{}, types: map[types.Type]bool{}}
	for _, path := range a.public {
		scope := a.all[path].Scope()
		for _, name := range scope.Names() {
			if o := scope.Lookup(name); o.Exported() {
				r.object(o)
			}
		}
	}
	found := map[string][]string{}
	for _, path := range a.public {
		found[path] = nil // also one that exports nothing
	}
	for o := range r.seen {
		found[o.Pkg().Path()] = append(found[o.Pkg().Path()], o.Name())
	}
	for _, names := range found {
		slices.Sort(names)
	}
	return found
}

type reaching struct {
	api   *api
	seen  map[types.Object]bool
	types map[types.Type]bool
}

func (r *reaching) object(o types.Object) {
	if o.Pkg() == nil || !r.api.own(o.Pkg()) || r.seen[o] {
		return
	}
	r.seen[o] = true
	r.reach(o.Type())
}

// reach follows a type.
func (r *reaching) reach(t types.Type) {
	if t == nil || r.types[t] {
		return
	}
	r.types[t] = true
	switch t := t.(type) {
	case *types.Named:
		r.object(t.Obj())
		for arg := range t.TypeArgs().Types() {
			r.reach(arg)
		}
		for p := range t.TypeParams().TypeParams() {
			r.reach(p.Constraint())
		}
		if r.api.own(t.Obj().Pkg()) {
			r.reach(exported(t.Underlying()))
			for m := range methodsOf(t) {
				r.reach(m.Type())
			}
		}
	case *types.Alias:
		r.object(t.Obj())
		r.reach(t.Rhs())
	case interface{ Elem() types.Type }: // pointer, slice, array, channel, map
		r.reach(t.Elem())
		if m, is := t.(*types.Map); is {
			r.reach(m.Key())
		}
	case *types.Struct:
		for f := range t.Fields() {
			r.reach(f.Type())
		}
	case *types.Signature:
		r.reach(t.Params())
		r.reach(t.Results())
		for p := range t.TypeParams().TypeParams() {
			r.reach(p.Constraint())
		}
	case *types.Tuple:
		for v := range t.Variables() {
			r.reach(v.Type())
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			r.reach(m.Type())
		}
		for e := range t.EmbeddedTypes() {
			r.reach(e)
		}
	case *types.Union:
		for term := range t.Terms() {
			r.reach(term.Type())
		}
	}
}

// exported returns a type without the fields that are not exported. One stands for them: a host cannot name
// them, but must not compare, or write without names, what it could not before.
func exported(t types.Type) types.Type {
	s, is := t.(*types.Struct)
	if !is {
		return t
	}
	var fields []*types.Var
	var tags []string
	hidden := false
	for i := range s.NumFields() {
		f := s.Field(i)
		if !f.Exported() && !f.Embedded() { // what is embedded promotes what it exports
			hidden = true
			continue
		}
		fields, tags = append(fields, f), append(tags, s.Tag(i))
	}
	if hidden {
		var stands types.Type = types.NewStruct(nil, nil)
		if !types.Comparable(s) {
			stands = types.NewSlice(stands)
		}
		fields, tags = append(fields, types.NewField(0, nil, "_", stands, false)), append(tags, "")
	}
	return types.NewStruct(fields, tags)
}

// methodsOf lists the exported methods of a type, in the order of their names. An interface has its own in its text.
func methodsOf(n *types.Named) iter.Seq[*types.Func] {
	byName := map[string]*types.Func{}
	if !types.IsInterface(n) {
		for m := range n.Methods() {
			if m.Exported() {
				byName[m.Name()] = m
			}
		}
	}
	return func(yield func(*types.Func) bool) {
		for _, name := range slices.Sorted(maps.Keys(byName)) {
			if !yield(byName[name]) {
				return
			}
		}
	}
}
