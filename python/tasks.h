// Tasks that are functions of Python: the examples of data.command = ["heed.task", NAME].
#pragma once

namespace heed {

// Lets this process make the examples of tasks: each is what heed._tasks.line() returns.
void use_python_tasks();

}  // namespace heed
