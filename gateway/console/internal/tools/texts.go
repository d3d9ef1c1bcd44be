package tools

import "github.com/keystile/keystile/gateway/console/internal/ui"

var texts = ui.Texts{
	"Capabilities": "能力", "Tools": "工具", "New capability": "新建能力", "Capability": "能力详情", "Tool": "工具详情", "Webhook deliveries": "Webhook 投递",
	"Groups of tools, each with the one upstream that serves it.": "工具的分组，每组由一个上游提供服务。",
	"Name": "名称", "State": "状态", "Upstream": "上游", "Changed": "更改", "paused": "已暂停", "published": "已发布", "left out": "已略过",
	"Look at the preview first. A document has at most 16 MiB; your browser shows how far its upload is.": "请先预览。文档最大 16 MiB；上传进度由浏览器显示。",
	"This is what would be stored. Nothing is stored yet.":                                                "这是将要保存的内容，目前尚未保存。",
	"The capability is registered.":                                                                       "能力已注册。", "The capability is on the bus.": "能力已上线。", "The capability is off the bus.": "能力已下线。", "The capability is deleted.": "能力已删除。",
	"It will be sent again in a moment.": "即将重新发送。",
	"Preview":                            "预览", "%s tools": "%s 个工具", "Added": "新增", "Removed": "移除", "Advice": "建议", "and %s more": "另有 %s 项", "Left out of the document": "文档中被略过的部分",
	"Label": "标签", "Description": "描述", "Upstream URL": "上游 URL", "OpenAPI document, as a file": "OpenAPI 文档（文件）",
	"or pasted; without one the upstream is an MCP endpoint that lists its tools": "或粘贴；若不提供，上游须为自行列出工具的 MCP 端点",
	"Authentication": "认证方式", "Credential": "凭据", "left empty, the stored one stays if the server is the same": "留空且服务器不变时，保留已存凭据",
	"More settings": "更多设置", "Header or parameter of the API key": "API 密钥的请求头或参数名", "Place of the API key": "API 密钥的位置",
	"Webhook URL": "Webhook URL", "Webhook secret": "Webhook 密钥", "Seconds that a call may take": "单次调用的最长秒数", "Put it on the bus": "上线", "Show what nested parts of the document hold": "展开文档中嵌套部分的内容", "Take it off the bus": "下线", "Register": "注册",
	"Edit": "编辑", "Edit capability": "编辑能力", "The capability is changed.": "能力已更改。", "Change a capability": "更改能力", "Its tools and its upstream stay as they are.": "其工具与上游保持不变。",
	"left empty, the stored one stays": "留空则保留已存的值", "left empty, the stored one stays while the URL does": "留空且 URL 不变时，保留已存的值",
	"Secret headers": "保密请求头", "They go with each call, beside the credential, to this upstream alone. Their values are shown to nobody.": "每次调用时与凭据一同仅发送至此上游，其值不会显示给任何人。",
	"Remove %s": "移除 %s", "New header": "新请求头", "Value": "值", "Go on even if tools that are there are removed": "即使会移除现有工具也继续",
	"Kind": "类型", "set": "已设置", "none": "无", "Owner": "所有者", "Register again": "重新注册", "Delete": "删除",
	"Its %s tools, its access rules and its credential go with it.": "其 %s 个工具、访问规则与凭据将一并删除。",
	"Call": "调用", "%s values": "%s 个值", "reads only": "只读", "required": "必填", "Answer": "响应", "The tool answered with an error.": "工具返回了错误。", "The tool answered.": "工具已响应。",
	"%s ms, %s bytes": "%s 毫秒，%s 字节", "%s parts are in the raw answer alone": "有 %s 个部分仅在原始响应中", "Raw answer": "原始响应",
	"It is cut here: the whole answer is at the endpoint for programs.": "此处已截断：完整响应请使用程序接口。",
	"Request": "请求", "Try it": "试用", "This is a real call. It is charged to you and recorded.": "这是真实调用，将计入您的用量并留下记录。", "Call it": "调用工具",
	"This capability is not on the bus: publish it first.": "该能力未上线：请先发布。", "Arguments": "参数",
	"Access rules": "访问规则", "The role auditor calls no tools.": "审计员角色不调用工具。",
	"Event": "事件", "Attempts": "尝试次数", "Last error": "最近错误", "Act": "操作", "waits until": "等待至", "given up": "已放弃", "Send again": "重新发送",
}
