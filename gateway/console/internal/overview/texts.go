package overview

import "github.com/keystile/keystile/gateway/console/internal/ui"

var texts = ui.Texts{
	"Console": "控制台", "Overview": "概览",
	"What is running, who calls what, and what needs your attention. Times are in UTC.": "运行情况、调用情况以及需要您处理的事项。时间均为 UTC。",
	"Your applications today, and what needs your attention. Times are in UTC.":         "您的应用今天的情况，以及需要您处理的事项。时间均为 UTC。",
	"Something could not be read and is missing here: look again in a moment.":          "部分内容未能读取，此处未显示：请稍后再看。",
	"Where to begin": "从这里开始", "Create an application": "创建应用",
	"It lets people sign in, and gets a secret of its own.": "让用户可以登录，并获得自己的密钥。",
	"Import an OpenAPI document":                            "导入 OpenAPI 文档",
	"Its operations become tools on the bus.":               "文档中的操作会成为总线上的工具。",
	"Try a tool": "试用工具", "Fill in a form, and see what it answers.": "填写表单，查看返回结果。",
	"Calls today": "今日调用", "Errors today": "今日错误", "%s %% of the calls": "占调用的 %s %%", "last 24 hours": "最近 24 小时",
	"Users": "用户", "Applications": "应用", "Open orders": "未完成的订单",
	"Older records are still being counted.": "较早的记录仍在统计中。",
	"OK":                                     "正常", "needs attention": "需要处理", "Health": "运行状况",
	"%s of %s nodes are serving": "%s / %s 个节点运行中",
	"What needs your attention":  "需要您处理", "Nothing is waiting for you.": "没有需要您处理的事项。",
	"Orders waiting for a decision: %s":               "待审批的订单：%s",
	"Webhook deliveries of %s that were given up: %s": "%s 已放弃投递的回调：%s",
	"The %s keys were last rotated %s days ago":       "%s 密钥上次轮换是在 %s 天前",
	"%s is not on the bus":                            "%s 未上总线",
	"Parts of %s that were left out: %s":              "%s 中未导入的部分：%s",
	"The last 24 hours":                               "最近 24 小时", "Calls by hour": "每小时调用", "Hour": "小时",
	"Answered": "成功", "Errors": "错误", "Calls": "调用次数",
	"Top applications today": "今日调用最多的应用", "Top tools today": "今日调用最多的工具", "Application": "应用", "Tool": "工具",
	"No calls in the last 24 hours.": "最近 24 小时没有调用。",
	"No calls yet today.":            "今天还没有调用。", "No tool calls yet today.": "今天还没有调用工具。",
	"Your applications": "您的应用", "Tier": "套餐", "disabled": "已停用", "Usage": "用量",
	"You have no applications yet.": "您还没有应用。",
	"Your orders":                   "您的订单", "Order": "订单", "Status": "状态", "You have no orders.": "您还没有订单。",
	"Strangers may be among the users, and everybody may use tools without an access list: " +
		"%s": "用户中可能有陌生人，而未设访问列表的工具对所有人开放：%s 个",
	"You are signed in with one factor alone: set up a second": "您当前仅用一步登录：请设置两步验证",
}
