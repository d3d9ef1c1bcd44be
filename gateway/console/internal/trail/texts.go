package trail

import "github.com/keystile/keystile/gateway/console/internal/ui"

var texts = ui.Texts{
	"Audit trail": "审计记录", "Record of the audit trail": "审计记录条目", "Chain of the audit trail": "审计链",
	"What happened, the newest first.":                        "发生过的事件，最新的在前。",
	"What happened with your applications, the newest first.": "与您的应用有关的事件，最新的在前。",
	"Filter": "筛选", "From (UTC)": "从（UTC）", "To (UTC)": "到（UTC）", "User": "用户", "Application": "应用", "all": "全部",
	"Status": "状态码", "Address": "地址", "Request id": "请求编号", "Search": "搜索", "Clear": "清除", "Save these as": "保存为",
	"Outcome": "结果", "By": "操作者", "About": "涉及用户", "Details": "详情",
	"for": "代表", "Acts by delegation": "受托执行者",
	"operator": "运营者", "somebody, as": "有人以此身份：", "the service": "服务自身",
	"More of them": "此人的更多记录", "More of it": "此应用的更多记录", "The record as it is stored": "原始记录",
	"Time (UTC)": "时间（UTC）", "What": "内容", "%s times": "%s 次", "Nothing was found.": "没有找到。", "Older": "更早",
	"The search has come back to this time and stopped there, because it had read as much as one search " +
		"may:": "已达到一次搜索可读取的上限，搜索停在此时刻：",

	"Sign-in": "登录", "Account": "账户", "Consent": "授权同意", "Token": "令牌", "Revocation": "撤销", "Call": "调用",
	"Tool call": "工具调用", "Old endpoint": "旧版端点", "Rate limit": "限流", "Registration": "注册", "Agent": "智能体",
	"Administration": "管理操作", "Beginning of a chain": "审计链开始", "End of a chain": "审计链结束",
	"Lost events": "丢失的事件", "Other events": "其他事件",

	"answered": "已应答", "failed": "失败", "changed": "已更改", "done": "已完成", "let through": "已放行",
	"refused": "已拒绝", "refused: not signed in": "已拒绝：未登录", "refused: not allowed": "已拒绝：无权限",
	"refused: not found": "已拒绝：不存在", "refused: in conflict": "已拒绝：冲突", "refused: too many": "已拒绝：次数过多",
	"refused: too large": "已拒绝：内容过大", "refused: no such invitation": "已拒绝：邀请码无效",
	"refused: wrong password": "已拒绝：密码错误", "refused: wrong second factor": "已拒绝：两步验证未通过",
	"refused: wrong passkey": "已拒绝：通行密钥无效", "refused by the phone": "手机上已拒绝", "refused: wrong code": "已拒绝：验证码错误",
	"refused by the provider": "登录提供方已拒绝", "signed in": "已登录", "refused: too many attempts": "已拒绝：尝试过多",
	"refused: no such user": "已拒绝：没有此用户", "refused: wrong secret": "已拒绝：密钥错误", "begun": "已开始",
	"claims left out":     "部分声明未加入",
	"issued without PKCE": "已签发（未用 PKCE）", "issued": "已签发", "refused: no valid token": "已拒绝：令牌无效",
	"repeated, not charged": "重复请求，未计费", "the caller has gone": "调用方已断开", "failed: no answer": "失败：无应答",
	"answered with an error": "应答为错误", "signed out": "已退出", "ended": "已结束", "created": "已创建", "downloaded": "已下载",
	"asked for": "已申请", "removed": "已移除", "suspicious": "可疑", "denied": "已拒绝授权", "allowed": "已允许",
	"registered": "已注册", "signed up": "已注册账户", "held back": "已暂缓", "accepted": "已接受", "admitted": "已接纳",
	"unlocked": "已解锁", "approved": "已批准", "rejected": "已驳回", "canceled": "已取消", "sent again": "已重新投递",
	"dropped": "已丢弃", "lost": "已丢失", "summed up": "已汇总",
	"Record %s": "记录 %s", "Product": "产品", "Request": "请求", "Duration": "耗时", "Bytes answered": "应答字节数",
	"Every record is chained to the one before it, so that a missing or changed one is " +
		"found.": "每条记录都与前一条相链接，因此能发现缺失或被改动的记录。",
	"What stands for removed records was not written by this service.": "代表已删除记录的检查点不是由本服务写入的。",
	"Newest record": "最新记录", "Waiting in memory": "内存中等待", "Lost because the queue was full": "因队列已满而丢失",
	"Removed because of age or size": "因时间或大小而删除",
	"up to record %s":                "直到记录 %s", "noted until": "记录时间至", "first removed": "首次删除于",
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
