(block) @local.scope
(definition (value) @local.definition)
(value) @local.reference
