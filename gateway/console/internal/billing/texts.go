package billing

import "github.com/keystile/keystile/gateway/console/internal/ui"

var texts = ui.Texts{
	"Usage & billing": "用量与计费", "Orders": "订单", "Order": "订单", "Tiers": "套餐", "Tier": "套餐", "Quota": "配额",
	"Orders of another tier, the oldest first.": "更换套餐的订单，最早的在前。",
	"Status": "状态", "Application": "应用", "CNY a year": "元/年", "Ordered": "下单时间", "Ordered by": "下单者",
	"pending": "待处理", "contact": "待洽谈", "approved": "已批准", "rejected": "已拒绝", "canceled": "已取消", "all": "全部",
	"free": "免费版", "white_label": "白标版", "enterprise": "企业版",
	"No such order. An application orders another tier at /api/v1/billing/upgrade; here it is approved or " +
		"rejected.": "没有这样的订单。应用通过 /api/v1/billing/upgrade 订购其他套餐，在此批准或拒绝。",
	"Each application is settled once a month, by its tier and its calls.": "每个应用按其套餐和调用次数每月结算一次。",
	"No application has a quota yet: each has one once it is made.":        "还没有应用有配额：应用创建后即有配额。",
	"Owner": "所有者", "nobody": "无", "Decided": "处理时间", "Takes effect": "生效时间", "Ends": "结束时间",
	"Reason":                         "原因",
	"Until, if not as the tier says": "截止日期（不同于套餐规定时填写）",
	"Approve":                        "批准", "Reject": "拒绝", "Reason, for the owner to read": "原因（所有者可见）",
	"Cancel": "取消", "Cancel this order": "取消此订单", "A canceled order is kept, and costs nothing.": "取消的订单会保留，不收费用。",
	"The order is approved.": "订单已批准。", "The order is rejected.": "订单已拒绝。", "The order is canceled.": "订单已取消。",
	"What each tier allows and costs. No quota interrupts calls: what goes beyond it is " +
		"settled.": "各套餐的限额与价格。配额不会中断调用：超出部分另行结算。",
	"Requests a minute": "每分钟请求数", "Calls": "调用次数", "CNY for a thousand calls beyond": "超出后每千次调用（元）",
	"Pages carry the mark": "页面带有标识", "Availability": "可用性", "unlimited": "不限", "a day": "每天", "a month": "每月",
	"free, or agreed on": "免费或另行商定", "yes": "是", "no": "否",
	"Give an application a tier":                                        "为应用设置套餐",
	"At once, and for nothing. An order of its that waits is canceled.": "立即生效，不收费。该应用待处理的订单会被取消。",
	"Until, then it is free again":                                      "截止日期（之后恢复为免费版）", "Set the tier": "设置套餐",
	"The application has this tier now.":                                  "该应用现在使用此套餐。",
	"What an application has used of its quota, and where that is going.": "应用已使用的配额及其趋势。",
	"Limit": "限额", "Used": "已使用", "Left": "剩余", "Beyond the quota": "超出配额", "Begins anew": "重新计算时间", "Forecast": "预测",
	"An estimate: the mean of the last seven days, extended until the quota begins anew.": "估算：按最近七天的平均值推算至配额重新计算时。",
	"Calls a day": "每天调用次数", "Calls until then": "届时的调用次数", "Used up": "用尽时间",
	"Settlements": "结算", "Month": "月份", "For the tier": "套餐费", "For calls beyond": "超额费", "Total": "合计",
	"Total of this page": "本页合计", "so far": "截至目前",
	"What each application owes for a month, by its tier and for calls beyond its quota. Amounts are in " +
		"CNY.": "各应用某月应付金额：套餐费与超出配额的调用费（单位：元）。",
	"Download as CSV": "下载 CSV", "From here on, up to 500 applications.": "从此处起，最多 500 个应用。",
	"No applications to settle.":                                         "没有可结算的应用。",
	"no such order: see GET /api/console/orders for those there are":     "没有这个订单：可用的订单见 GET /api/console/orders",
	"no such application: see GET /api/console/apps for those there are": "没有这个应用：可用的应用见 GET /api/console/apps",
}
