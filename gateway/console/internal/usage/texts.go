package usage

import "github.com/keystile/keystile/gateway/console/internal/ui"

var texts = ui.Texts{
	"Usage": "用量", "Usage & billing": "用量与计费", "Who has called how much, in UTC.": "谁调用了多少（UTC 时间）。",
	"Application": "应用", "From": "从", "To": "至", "By": "按", "Day": "天", "Hour": "小时", "Product": "产品", "Tool": "工具",
	"Person": "用户", "Agent": "智能体",
	"Calls": "调用次数", "Errors": "错误", "The period before": "上一周期", "now %s": "现在 %s",
	"Beyond the quota": "超出配额", "Forecast": "预测",
	"Time": "时间", "Answered": "成功", "Name": "名称", "Download as CSV": "下载 CSV",
	"Today": "今天", "7 days": "7 天", "30 days": "30 天", "Another time": "其他时间", "Show": "查看",
	"Choose an application": "选择应用", "The whole service": "整个服务",
	"Who called most": "调用最多者", "Nothing was called in this time.": "这段时间没有调用。",
	"usage is not shown here: ask the operator":                          "此处不显示用量：请联系运营者",
	"no such application: see GET /api/console/apps for those there are": "没有这个应用：可用的应用见 GET /api/console/apps",
}
