package trail

import "github.com/keystile/keystile/gateway/console/internal/ui"

var texts = ui.Texts{
	"Audit trail": "审计记录", "Record of the audit trail": "审计记录条目", "Chain of the audit trail": "审计链",
	"What happened, the newest first.":                        "发生过的事件，最新的在前。",
	"What happened with your applications, the newest first.": "与您的应用有关的事件，最新的在前。",
	"From (UTC)": "从（UTC）", "To (UTC)": "到（UTC）", "Person (sub)": "用户（sub）", "Application (client_id)": "应用（client_id）",
	"Kind": "类型", "all": "全部",
	"Status": "状态码", "Address": "地址", "Request id": "请求编号", "Search": "搜索", "Save as JSON lines": "保存为 JSON 行",
	"Save as CSV": "保存为 CSV",
	"Time (UTC)":  "时间（UTC）", "What": "内容", "%s times": "%s 次", "Nothing was found.": "没有找到。", "Older": "更早",
	"The search has come back to %s and stopped there, because it had read as much as one search " +
		"may.": "搜索已回溯到 %s 并停止：已达到一次搜索可读取的上限。",
	"Record %s": "记录 %s", "Product": "产品", "Request": "请求", "Duration": "耗时", "Bytes answered": "应答字节数",
	"Every record is chained to the one before it, so that a missing or changed one is " +
		"found.": "每条记录都与前一条相链接，因此能发现缺失或被改动的记录。",
	"What stands for removed records was not written by this service.": "代表已删除记录的检查点不是由本服务写入的。",
	"Newest record": "最新记录", "Waiting in memory": "内存中等待", "Lost because the queue was full": "因队列已满而丢失",
	"Removed because of age or size": "因时间或大小而删除",
	"up to record %s":                "直到记录 %s", "noted until %s": "记录时间至 %s", "first removed %s": "首次删除于 %s",
	"Verification by this node":      "本节点的校验",
	"It runs: %s records were read.": "正在进行：已读取 %s 条记录。", "Load again": "重新加载",
	"There was none since this node started.":              "本节点启动以来尚未校验。",
	"The trail could not be read to its end. Do it again.": "未能读到末尾，请重试。", "whole": "完整",
	"broken in %s places": "有 %s 处损坏", "%s records were read.": "已读取 %s 条记录。",
	"Heads to keep elsewhere": "请另行保存的链头", "Verify now": "立即校验",
	"The verification runs. Load this page again to see how far it is.": "校验正在进行。重新加载本页可查看进度。",

	noRecord.Msg: "没有这条记录，或已因时间久远而删除",
	noTrail.Msg:  "此处不显示审计记录：宿主程序没有把它交给控制台",
	running.Msg:  "已有校验在进行：请等待结果",
}
