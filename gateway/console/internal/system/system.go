package system

import (
	"embed"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/internal/consoleauth"
)

//go:embed *.html
var pages embed.FS

var nodesPage = ui.Parse(pages, "nodes.html")

// Config holds what New needs.
type Config struct {
	Nodes Nodes // nil: no nodes are listed
}

// System is this part of the console.
type System struct{ c Config }

// New makes a System.
func New(c Config) *System { return &System{c} }

// Part returns the endpoints and pages.
func (s *System) Part() ui.Part {
	reader := []consoleauth.Check{consoleauth.Actor.Reader}
	return ui.Part{
		APIs: []ui.API{
			{Path: "/api/console/nodes", Methods: map[string]ui.Action{"GET": s.listNodes}, May: reader},
		},
		Pages: []ui.Page{
			{Path: "/console/nodes", Title: "Nodes", Section: "Service", May: reader, Get: s.listNodes, Template: nodesPage},
		},
		Texts: texts,
	}
}

var texts = ui.Texts{
	"Nodes":   "节点",
	"Service": "服务",
	"The processes that serve from this store.": "由此存储提供服务的进程。",
	"Name":            "名称",
	"Version":         "版本",
	"Started":         "启动时间",
	"State":           "状态",
	"this one":        "当前节点",
	"serving":         "运行中",
	"gone since %s s": "已离开 %s 秒",
}
