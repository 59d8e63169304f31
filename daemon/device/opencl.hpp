// OpenCL's own numbers (status codes, cl_device_info names) for the daemon; no function of any OpenCL library is called.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_ext.h>
