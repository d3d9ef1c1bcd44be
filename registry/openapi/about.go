package openapi

import (
	"strings"

	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/internal/toolschema/tree"
)

// maxAbout bounds what is read of a title or of a server's URL, in bytes.
const maxAbout = 2048

// titleOf returns the title of a document, "" if it has none.
func titleOf(root tree.Object) string {
	info, _ := root.Get("info").(tree.Object)
	return about(info.Text("title"))
}

// serverOf returns the URL of the first server that a document names, with the defaults of its variables; "" if it
// names none. It may be relative to the address of the document.
func serverOf(root tree.Object) string {
	if root.Text("swagger") != "" {
		if root.Text("host") == "" {
			return about(root.Text("basePath"))
		}
		scheme := "https"
		if all, _ := root.Get("schemes").(tree.Array); len(all) > 0 && !contains(all, "https") && contains(all, "http") {
			scheme = "http"
		}
		return about(scheme + "://" + root.Text("host") + root.Text("basePath"))
	}
	servers, _ := root.Get("servers").(tree.Array)
	if len(servers) == 0 {
		return ""
	}
	first, _ := servers[0].(tree.Object)
	url := first.Text("url")
	variables, _ := first.Get("variables").(tree.Object)
	for range 20 {
		before, rest, open := strings.Cut(url, "{")
		name, after, closed := strings.Cut(rest, "}")
		if !open || !closed {
			break
		}
		variable, _ := variables.Get(name).(tree.Object)
		url = before + strings.ReplaceAll(variable.Text("default"), "{", "") + after
	}
	return about(url)
}

func contains(all tree.Array, text string) bool {
	for _, one := range all {
		if one == text {
			return true
		}
	}
	return false
}

// about returns a text of a document as it is handed on, "" if it is too long to be what it is for.
func about(text string) string {
	if len(text) > maxAbout {
		return ""
	}
	return toolschema.Text(strings.TrimSpace(text))
}
