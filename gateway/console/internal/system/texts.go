package system

import "github.com/keystile/keystile/gateway/console/internal/ui"

var texts = ui.Texts{
	"Nodes": "节点", "Service": "服务", "The processes that serve from this store.": "使用此存储提供服务的进程。",
	"Name": "名称", "Version": "版本", "Started": "启动时间", "State": "状态", "this one": "当前节点", "serving": "运行中",
	"last seen %s s ago": "%s 秒前失去联系",

	"Keys": "密钥", "The keys that sign tokens. Private keys are never shown.": "用于签发令牌的密钥。私钥从不显示。",
	"Algorithm": "算法", "Created": "创建时间", "What it verifies": "可验证的内容", "Action": "操作", "next": "待用", "active": "使用中",
	"retired": "已停用",
	"nothing yet: it is published, and signs after the next rotation": "暂无：公钥已发布，下次轮换后开始用于签名",
	"everything that is signed now":                                   "当前签发的所有内容",
	"what it signed before":                                           "在此之前由它签名的内容：", "until": "有效至",
	"Withdraw": "撤销", "Withdraw this key": "撤销此密钥",
	"Everything it signed becomes invalid at once.": "由它签名的所有内容立即失效。", "Rotate": "轮换",
	"Rotate the keys of an algorithm": "轮换某种算法的密钥",
	"The next key signs from now on, and a new next key is generated. All that was signed before stays valid. Leave " +
		"five minutes between two rotations.": "从现在起由下一个密钥签名，并生成新的备用密钥。此前签名的内容仍然有效。两次轮换之间请至少间隔五分钟。",
	"Master key": "主密钥", "ID": "ID", "What it encrypts": "用于加密",
	"secrets of applications and tools, webhook deliveries, emails, signing keys and the checkpoint of the audit " +
		"trail": "应用与工具的密钥、待投递的回调、邮件、签名密钥以及审计记录的检查点",
	"a change of the master key has begun: finish it with keystile key " +
		"rekey": "主密钥更换已开始但未完成：请运行 keystile key rekey 完成",
	"The next key signs from now on.":                   "从现在起由下一个密钥签名。",
	"The key was withdrawn: what it signed is invalid.": "密钥已撤销：由它签名的内容均已失效。",

	"Health": "运行状况", "This node is healthy.": "本节点运行正常。", "Something needs attention.": "有需要处理的问题。", "Check": "检查项",
	"Value": "值", "OK": "正常", "needs attention": "需要处理",
	"This process": "本进程", "Uptime": "运行时间", "%s s": "%s 秒", "Goroutines": "协程数", "Memory": "内存", "%s bytes": "%s 字节",
	"store": "存储", "feed lag": "变更同步延迟", "audit events waiting": "待写入的审计事件", "audit events lost": "丢失的审计事件",
	"calls charged": "已计费的调用", "calls not counted": "未计入的调用", "requests let through over a rate": "超出速率但已放行的请求",
	"emails due": "待发邮件", "webhooks due": "待投递的回调", "version": "版本号",
	"What it runs on": "运行环境", "Store": "存储", "%s at %s": "%s，位于 %s", "Counters shared by nodes": "节点共享的计数器",
	"none: this node counts alone": "无：本节点独立计数",
	"%s, reachable":                "%s，可连接", "%s, %s bytes": "%s，%s 字节",
	"%s, not reachable: each node keeps its share of the limits": "%s，无法连接，各节点按各自份额执行限制", "since": "自",
	"shared counters": "共享计数器", "not reachable": "无法连接",
	"each node keeps its share of the limits: see whether the server that counts runs, and the log of this " +
		"node": "各节点按各自份额执行限制：请检查计数服务器是否运行，并查看本节点的日志",
	"reachable": "可用", "not working": "不可用",
	"the last write or read failed: see the log of this node": "最近一次读写失败：请查看本节点的日志",
	"what other processes revoke has not been read for too long: no access token is " +
		"accepted": "太久未能读取其他进程的撤销记录：目前拒绝所有访问令牌",
	"usage or audit trail is not written as it should be: see the log of this node": "用量或审计记录未能正常写入：请查看本节点的日志",
	"events were lost: see why the store does not keep up":                          "有事件丢失：请检查存储写入为何跟不上",
	"they are not sent as fast as they come in: see the log of this node":           "发送速度跟不上产生的速度：请查看本节点的日志",

	"Events of users": "用户事件",
	"What this application is told of the end of sessions, and has not been told yet:": "会话结束时要通知此应用、但尚未送达的内容：",
	"Events for the operator":                                  "发给运营方的事件",
	"What waits for the webhook at %s, and what was given up.": "等待投递到 %s 的事件，以及已放弃的事件。",
	"No webhook is set: keystile webhook set chooses one.":     "尚未设置 webhook：请用 keystile webhook set 设置。",
	"Application": "应用", "Event": "事件", "Attempts": "尝试次数", "Last error": "最近错误",
	"waits until": "等待至", "given up": "已放弃", "%s before it were dropped": "此前有 %s 条因积压被丢弃",
	"Nothing waits, and nothing was given up.": "没有等待投递的事件，也没有已放弃的事件。",

	"Settings": "设置", "What this node was started with, and the switches that can be changed while it " +
		"runs.": "本节点的启动配置，以及运行中可更改的开关。", "Search": "搜索",
	"Can be changed without a restart": "无需重启即可更改", "Change": "更改", "Nothing was found.": "没有找到。",
	"From the configuration": "启动配置", "Source": "来源", "Default": "默认值", "as by default": "与默认值相同",
	"Name or description": "名称或说明", "%s with their defaults": "%s 项为默认值",
	"Addresses and the store": "地址与存储",
	"Where the service is reached, and where it keeps its records.": "服务的访问地址，以及记录的存放位置。",
	"Signing in": "登录", "Who becomes a user, what they prove, and how long that lasts.": "谁可以成为用户、需要证明什么、有效多久。",
	"Providers": "登录提供方", "Where else people may sign in.": "还可以在哪里登录。",
	"Mail": "邮件", "How the service sends mail.": "服务如何发送邮件。",
	"Tokens and agents": "令牌与智能体", "How tokens are signed, and who may register.": "令牌如何签名，谁可以注册。",
	"Gateway": "网关", "What calls may cost, and how long an answer may be.": "调用的限额，以及应答的时长上限。",
	"Tools": "工具", "Where tools may call, and what the MCP server answers.": "工具可以调用哪里，MCP 服务器如何应答。",
	"Records": "记录", "What is written down, and who is told.": "记录什么，通知谁。",
	"Others": "其他", "What belongs to nothing above.": "不属于以上各类的设置。",
	"This process does not list itself: several nodes on one store do, see " +
		"storage_url.": "本进程未列出节点：多个节点共用一个存储时才会列出，见 storage_url。",
	"The setting was changed. It applies at once, and stays.": "设置已更改，立即生效，重启后仍保留。",

	"0: PKCE is optional; 1: every authorization needs it": "0：PKCE 可选；1：每次授权都必须使用",
	"who may use the tools of a capability without an access list: everyone; owner (and administrators); auto: " +
		"everyone while every way in is closed to people who are not users yet, else " +
		"owner": "没有访问列表的 API，其工具可由谁使用：everyone（所有人）；owner（所有者及管理员）；auto：所有登录方式都不接纳新用户时为所有人，否则为所有者",

	noKeys.Msg:    "此处不显示签名密钥：宿主程序没有把它们交给控制台",
	noKey.Msg:     "没有这个密钥",
	rotating.Msg:  "有人正在轮换密钥：请重新查看",
	noSetting.Msg: "这里不能更改该名称的设置",
}
