package overview

import "github.com/keystile/keystile/gateway/console/internal/ui"

var texts = ui.Texts{
	"Console": "控制台", "Overview": "概览",
	"What runs, who calls what, and what needs you. Times are in UTC.":         "运行情况、调用情况以及需要您处理的事项（UTC 时间）。",
	"Your applications today, and what needs you. Times are in UTC.":           "您的应用今天的情况，以及需要您处理的事项（UTC 时间）。",
	"Something could not be read and is missing here: look again in a moment.": "部分内容未能读取，此处未显示：请稍后再看。",
	"Where to begin": "从这里开始", "Make an application": "创建应用", "It lets people sign in, and gets a secret of its own.": "用户可通过它登录，它有自己的密钥。",
	"Import an OpenAPI document": "导入 OpenAPI 文档", "Its operations become tools on the bus.": "其中的操作会成为总线上的工具。",
	"Try a tool": "试用工具", "Fill in a form, and see what it answers.": "填写表单，查看返回结果。",
	"Calls today": "今日调用", "Errors today": "今日错误", "%s %% of the calls": "占调用的 %s %%", "last 24 hours": "最近 24 小时",
	"Users": "用户", "Applications": "应用", "Open orders": "待处理订单",
	"What is older than the counters is still being counted.": "计数器启用之前的数据仍在统计中。",
	"well": "正常", "look at it": "需查看", "Health": "运行状况", "%s of %s nodes serve": "运行中节点 %s / %s",
	"What needs you": "需要您处理", "Nothing waits for you.": "没有需要您处理的事项。",
	"Orders that wait for a decision: %s":     "待处理的订单：%s",
	"Webhooks of %s that were given up: %s":   "%s 已放弃投递的回调：%s",
	"The keys of %s were rotated %s days ago": "%s 的密钥上次轮换在 %s 天前",
	"%s is not on the bus":                    "%s 不在总线上",
	"Pieces of %s that were left out: %s":     "%s 未导入的部分：%s",
	"The last 24 hours":                       "最近 24 小时", "Calls by hour": "每小时调用", "Hour": "小时", "Answered": "成功", "Errors": "错误", "Calls": "调用次数",
	"Top applications today": "今日调用最多的应用", "Top tools today": "今日调用最多的工具", "Application": "应用", "Tool": "工具",
	"Nothing was called in the last 24 hours.": "最近 24 小时没有调用。",
	"Nothing was called yet today.":            "今天还没有调用。", "No tool was called yet today.": "今天还没有调用工具。",
	"Your applications": "您的应用", "Tier": "套餐", "disabled": "已停用", "Usage": "用量", "You have no application yet.": "您还没有应用。",
	"Your orders": "您的订单", "Order": "订单", "Status": "状态", "You have ordered nothing.": "您还没有订单。",
}
