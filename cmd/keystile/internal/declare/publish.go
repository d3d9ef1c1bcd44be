package declare

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

const publishField = "publish" // of a capability

// publishedLast moves the publishing of capabilities behind the steps that write their access lists: without its list,
// a capability is for everyone where that is the default. The first step of such a capability makes or leaves it
// unpublished, and its last step publishes it. The record of one that is made says that it waits, for a run that breaks
// off in between.
func publishedLast(steps []Step) []Step {
	listed := map[string]bool{}
	for _, s := range steps {
		listed[s.Name] = listed[s.Name] || s.Kind == kindAccess && s.Action != None
	}
	var last []Step
	for i, s := range steps {
		if s.Kind != kindCapability || !listed[s.Name] || !s.publishes() {
			continue
		}
		steps[i] = s.unpublished()
		last = append(last, Step{Kind: s.Kind, Name: s.Name, Action: Modify, doc: s.doc.publishing(true), is: s.is,
			Changes: []Change{{publishField, "false", "true"}}})
	}
	return append(steps, last...)
}

// publishes reports whether a step of a capability puts it on the bus.
func (s Step) publishes() bool {
	if s.Action == Create {
		return string(s.doc.Fields[publishField]) != "false"
	}
	return slices.ContainsFunc(s.Changes, func(c Change) bool { return c.Field == publishField && c.To == "true" })
}

// unpublished returns a step without the publishing.
func (s Step) unpublished() Step {
	s.waits = s.is.Waits || s.Action == Create
	s.doc = s.doc.publishing(false)
	s.Changes = slices.DeleteFunc(slices.Clone(s.Changes), func(c Change) bool { return c.Field == publishField })
	switch {
	case s.Action == Create:
		s.Changes = append(s.Changes, Change{Field: publishField, To: "false"})
	case len(s.Changes) == 0:
		s.Action = None
	}
	return s
}

// publishing returns the document of a capability with publish set.
func (d Document) publishing(on bool) Document {
	d.Fields = maps.Clone(d.Fields)
	if d.Fields == nil {
		d.Fields = map[string]json.RawMessage{}
	}
	d.Fields[publishField] = json.RawMessage(strconv.FormatBool(on))
	return d
}
