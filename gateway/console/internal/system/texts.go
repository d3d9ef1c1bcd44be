package system

import "github.com/keystile/keystile/gateway/console/internal/ui"

var texts = ui.Texts{
	"Nodes": "节点", "Service": "服务", "The processes that serve from this store.": "由此存储提供服务的进程。",
	"Name": "名称", "Version": "版本", "Started": "启动时间", "State": "状态", "this one": "当前节点", "serving": "运行中", "gone since %s s": "已离开 %s 秒",

	"Keys": "密钥", "The keys that sign tokens. What they sign with is never shown.": "签署令牌的密钥。私钥从不显示。",
	"Algorithm": "算法", "Made": "生成时间", "What it verifies": "可验证的内容", "Act": "操作", "next": "下一个", "active": "使用中", "retired": "已退役",
	"nothing yet: it is published, and signs after the next rotation": "暂无：已公布，下次轮换后开始签署", "everything that is signed now": "现在签署的一切",
	"what it signed before %s": "%s 之前由它签署的内容", "until %s": "至 %s", "Withdraw": "撤回", "Withdraw this key": "撤回此密钥",
	"Everything it signed is invalid at once.": "它签署的一切立即失效。", "Rotate": "轮换", "Rotate the keys of an algorithm": "轮换某一算法的密钥",
	"The next key signs from now on, and a new next one is drawn. What was signed before stays valid. Leave five minutes between two rotations.": "从现在起由下一个密钥签署，并生成新的下一个密钥。此前签署的内容仍然有效。两次轮换之间请间隔五分钟。",
	"Master key": "主密钥", "Id": "编号", "What it seals": "加密的内容",
	"secrets of applications and tools, deliveries, emails, signing keys and the checkpoint of the audit trail": "应用与工具的密钥、投递、邮件、签名密钥以及审计记录的检查点",
	"a change of the master key has begun: end it with keystile key rekey":                                      "主密钥的更换已开始：请用 keystile key rekey 完成",
	"The next key signs from now on.": "从现在起由下一个密钥签署。", "The key is withdrawn: what it signed is invalid.": "密钥已撤回：它签署的内容已失效。",

	"Health": "运行状况", "This node is well.": "本节点运行正常。", "Something needs attention.": "有需要处理的问题。", "What": "内容", "Value": "值", "well": "正常", "look at it": "需查看",
	"This process": "本进程", "Running for": "已运行", "%s s": "%s 秒", "Goroutines": "协程数", "Memory": "内存", "%s bytes": "%s 字节",
	"store": "存储", "feed lag": "变更流延迟", "audit events waiting": "待写入的审计事件", "audit events lost": "丢失的审计事件", "calls charged": "已计费的调用", "calls not counted": "未计入的调用", "emails due": "待发邮件", "webhooks due": "待投递的回调", "version": "版本号",
	"What it runs on": "运行环境", "Store": "存储", "%s at %s": "%s，位于 %s", "Counters shared by nodes": "节点共享的计数器", "none: this node counts alone": "无：本节点独立计数",
	"%s, reachable": "%s，可连接", "%s, %s bytes": "%s，%s 字节",
	"%s, not reachable since %s, each node keeps its share of the limits": "%s，自 %s 起无法连接，各节点按各自份额执行限制",
	"shared counters": "共享计数器", "not reachable": "无法连接",
	"each node keeps its share of the limits: see whether the server that counts runs, and the log of this node": "各节点按各自份额执行限制：请检查计数服务器是否运行，并查看本节点的日志",
	"reachable": "可用", "not working": "不可用", "the last write or read failed: see the log of this node": "最近一次读写失败：请查看本节点的日志",
	"what other processes revoke has not been read for too long: no access token is accepted": "长时间未能读取其他进程的撤销记录：所有访问令牌都不被接受",
	"usage or audit trail is not written as it should be: see the log of this node":           "用量或审计记录未能正常写入：请查看本节点的日志",
	"events were lost: see why the store does not keep up":                                    "有事件丢失：请检查存储为何跟不上",
	"they do not get away as fast as they are made: see the log of this node":                 "发送速度跟不上产生的速度：请查看本节点的日志",

	"Settings": "设置", "What this node was started with, and the switches that change while it runs.": "本节点启动时的配置，以及运行中可更改的开关。", "Search": "搜索",
	"Changed without a restart": "无需重启即可更改", "Change": "更改", "Nothing was found.": "没有找到。", "Of the configuration": "配置文件中的设置", "Source": "来源", "Default": "默认值", "differs": "与默认值不同",
	"The setting is changed, at once and for good.": "设置已更改，立即生效并保持。",

	"0: PKCE is optional; 1: every authorization needs it": "0：PKCE 可选；1：每次授权都必须使用",
	"who may use the tools of a capability without an access list: everyone; owner (and administrators); auto: everyone while sign-up is closed, else owner": "没有访问列表的能力，其工具可由谁使用：everyone（所有人）；owner（所有者及管理员）；auto：注册关闭时为所有人，否则为所有者",

	noKeys.Msg:    "此处不显示签名密钥：宿主程序没有把它们交给控制台",
	noKey.Msg:     "没有这个密钥",
	rotating.Msg:  "有人正在轮换密钥：请重新查看",
	noSetting.Msg: "这里不能更改该名称的设置",
}
