package ui

import (
	"maps"

	"github.com/keystile/keystile/gateway/console/internal/ui/internal/errortexts"
)

// texts are those of the frame and of what all pages share.
var texts = Texts{
	"Console":          "控制台",
	"Skip to content":  "跳到内容",
	"Menu":             "菜单",
	"My account":       "我的账户",
	"Signed in as":     "当前登录：",
	"admin":            "管理员",
	"developer":        "开发者",
	"auditor":          "审计员",
	"Pages of this":    "此项的页面",
	"Connect an agent": "连接智能体",
	"Give this MCP address to an agent. It opens a browser to sign in by itself: no key is " +
		"needed.": "把此 MCP 地址交给智能体即可。它会自行打开浏览器完成登录，无需密钥。",
	"in a terminal":                    "在终端中执行",
	"in .cursor/mcp.json":              "写入 .cursor/mcp.json",
	"for clients that start a program": "用于以启动程序方式接入的客户端",
	"a removed user":                   "已移除的用户",
	"a removed application":            "已移除的应用",
	"API key":                          "API 密钥",
	"Sign out":                         "退出登录",
	"Overview":                         "概览",
	"More":                             "更多",
	"Back to the list":                 "返回列表",
	"Nothing here yet.":                "这里还没有内容。",
	"Copy":                             "复制",
	"Copied":                           "已复制",
	"Search":                           "搜索",
	"Save":                             "保存",
	"As a table":                       "以表格显示",
	"Not found":                        "未找到",

	"Point at a column, or choose one with the arrow keys.": "将指针移到某一列上，或用方向键选择一列。",
	"this form is too old, or was not made for this page: check it and send it " +
		"again": "此表单已过期，或不属于此页面：请检查后重新提交",
	"this form was sent already: see whether it has done what you want before you send it " +
		"again": "此表单已提交过：再次提交前，请先确认是否已达到目的",
}

// FrameTexts returns the translations of what all pages share.
func FrameTexts() Texts {
	all := maps.Clone(texts)
	maps.Copy(all, aboutTexts)
	maps.Copy(all, errortexts.All)
	return all
}
