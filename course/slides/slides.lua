-- Makes slides of chapters. A section becomes slides with its first sentences and with its formulas, pictures, tables,
-- lists and short blocks of code. The first slide of a section has the whole text as notes.
local longest = 16  -- lines on a slide, and of a block of code or a table

local text_of = pandoc.utils.stringify

-- The sentences of a paragraph, each a list of inlines.
local function sentences(inlines)
  local all, sentence = {}, pandoc.List()
  for i, part in ipairs(inlines) do
    sentence:insert(part)
    local last, after = text_of(part):sub(-1), inlines[i + 1]
    local ends = part.t ~= "Code" and part.t ~= "Math" and last:match("[.?!:]")
    if not after or ends and (after.t == "Space" or after.t == "SoftBreak") then
      all[#all + 1] = sentence
      sentence = pandoc.List()
    end
  end
  return all
end

-- The first sentences, up to 240 characters.
local function beginning(inlines)
  local kept, length = pandoc.List(), 0
  for _, sentence in ipairs(sentences(inlines)) do
    length = length + #text_of(sentence)
    if #kept > 0 and length > 240 then break end
    kept:extend(sentence)
  end
  return kept
end

-- What a slide shows of a block, and the number of lines that this takes.
local function shown(block, is_first)
  if block.t == "Para" then
    local only = #block.content == 1 and block.content[1]
    if only and only.t == "Image" then return block, longest end
    if only and only.t == "Math" then return block, 3 end
    if is_first or block.content[1].t == "Strong" then return pandoc.Para(beginning(block.content)), 3 end
    local all = sentences(block.content)
    if text_of(block):sub(-1) == ":" then return pandoc.Para(all[#all]), 2 end
  elseif block.t == "CodeBlock" then
    local _, ends = block.text:gsub("\n", "")
    if ends + 3 <= longest then return block, ends + 4 end
  elseif block.t == "Table" or block.t == "BulletList" or block.t == "OrderedList" then
    local rows = block.t == "Table" and #block.bodies[1].body + 1 or #block.content
    local lines = math.max(2 * rows, #text_of(block) // 75)
    if lines <= 1.5 * longest then return block, lines end
  end
end

-- The blocks outside of <details>, up to the answers.
local function without_answers(blocks)
  local all, depth = pandoc.List(), 0
  for _, block in ipairs(blocks) do
    local raw = block.t == "RawBlock" and block.text or ""
    if block.t == "Header" and text_of(block) == "Answers" then break end
    if raw:match("<details") then depth = depth + 1 end
    if depth == 0 then all:insert(block) end
    if raw:match("</details>") then depth = depth - 1 end
  end
  return all
end

-- What a chapter teaches: the row of the table at its top.
local function goal(blocks)
  for _, block in ipairs(blocks) do
    for _, row in ipairs(block.t == "Table" and pandoc.utils.to_simple_table(block).rows or {}) do
      if text_of(row[1]) == "You will be able to" then return row[2] end
    end
  end
  return blocks
end

-- The slides of a section, or of the head of a chapter.
local function slides_of(header, blocks)
  local parts, slides, used, is_first = {}, pandoc.List(), longest, true
  if header.level == 1 then parts = {{goal(blocks), 0}} end
  for _, block in ipairs(header.level > 1 and without_answers(blocks) or {}) do
    local part, lines = shown(block, is_first)
    if part then table.insert(parts, {{part}, lines}) end
    if block.t == "Para" then is_first = false end
  end
  for _, part in ipairs(parts) do
    if #slides == 0 or used > 0 and used + part[2] > longest then
      slides:insert(pandoc.Div({pandoc.Header(header.level, header.content)}, {class = "slide"}))
      used = 0
    end
    slides[#slides].content:extend(part[1])
    used = used + part[2]
  end
  if #slides > 0 then
    local notes = pandoc.Div(blocks, {class = "notes"}):walk({Image = function() return {} end})
    slides:insert(2, notes)
  end
  return slides
end

function Pandoc(document)
  local slides, header, blocks = pandoc.List(), nil, pandoc.List()
  local function finish()
    local title = header and text_of(header)
    if header and title ~= "Exercises" and title ~= "Where it is in the library" then
      slides:extend(slides_of(header, blocks))
    end
  end
  -- Links into the course lead nowhere from a slide: their text remains.
  local function without_link(link)
    if not link.target:match("^https?:") then return link.content end
  end
  for _, block in ipairs(document:walk({Link = without_link}).blocks) do
    if block.t == "Header" and block.level <= 2 then
      finish()
      header, blocks = block, pandoc.List()
    else
      blocks:insert(block)
    end
  end
  finish()
  document.blocks = slides
  return document
end
