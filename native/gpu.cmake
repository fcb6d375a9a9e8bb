# The GPU backend: one shared library per vendor, which the addon opens when it is asked for a GPU, so that one addon
# runs with either vendor's driver and with none. Kernels are compiled once for all of a vendor's processors.
#   GPU_CUDA=ON  llmservice_cuda.so, by nvcc (toolchains/cuda.sh); the CUDA runtime is linked in, the driver is not
#   GPU_HIP=ON   llmservice_hip.so, by Debian's clang (toolchains/hip.sh); the HIP runtime is looked for when it loads
option(GPU_CUDA "Build llmservice_cuda.so" OFF)
option(GPU_HIP "Build llmservice_hip.so" OFF)
set(GPU_CUDA_TARGETS sm_80 sm_89 sm_90a sm_100 CACHE STRING "CUDA processors; PTX is kept for the last")
set(GPU_HIP_TARGETS gfx90a gfx942 CACHE STRING "HIP processors")

set(GPU ${CMAKE_SOURCE_DIR}/src/backends/gpu)
set(TOOLCHAINS ${CMAKE_SOURCE_DIR}/toolchains)
file(GLOB GPU_KERNELS CONFIGURE_DEPENDS ${GPU}/kernels/*.cu)
# As on the CPU: a fused multiply-add happens where it is written.
set(KERNEL_FLAGS -O3 -std=c++20 -I${CMAKE_SOURCE_DIR}/src)

# Compiles every kernel file with the command that follows, and sets OBJECTS to what comes out. What the compiler says of
# registers and spills is kept beside each object, for test/gpu. No #include may hang on the processor: clang lists what
# its pass for the host read.
function(compile_kernels VENDOR TOOLCHAIN)
  set(OBJECTS)
  foreach(SOURCE IN LISTS GPU_KERNELS)
    get_filename_component(NAME ${SOURCE} NAME)
    set(OBJECT ${CMAKE_BINARY_DIR}/${VENDOR}/${NAME}.o)
    add_custom_command(
      OUTPUT ${OBJECT}
      COMMAND ${TOOLCHAINS}/compile.sh ${TOOLCHAIN}/made-of ${OBJECT} ${ARGN} ${SOURCE}
      DEPENDS ${SOURCE} ${TOOLCHAINS}/compile.sh ${TOOLCHAIN}/made-of
      DEPFILE ${OBJECT}.d
      COMMENT "Compiling kernels ${NAME} for ${VENDOR}"
      VERBATIM)
    list(APPEND OBJECTS ${OBJECT})
  endforeach()
  # A target of their own: kernels do not wait for what the library links.
  add_custom_target(llmservice_${VENDOR}_kernels DEPENDS ${OBJECTS})
  set(OBJECTS ${OBJECTS} PARENT_SCOPE)
endfunction()

# For a test with kernels of its own, by the command that compile_kernels had: sets the named variable to the object.
function(compile_kernel_test SOURCE RESULT)
  get_filename_component(NAME ${SOURCE} NAME)
  set(OBJECT ${CMAKE_BINARY_DIR}/${KERNEL_VENDOR}/${NAME}.o)
  set(LANGUAGE)
  if(KERNEL_VENDOR STREQUAL cuda)
    set(LANGUAGE -x cu)
  endif()
  add_custom_command(
    OUTPUT ${OBJECT}
    COMMAND ${TOOLCHAINS}/compile.sh ${KERNEL_TOOLCHAIN}/made-of ${OBJECT} ${KERNEL_COMMAND} ${LANGUAGE}
            -I${CMAKE_SOURCE_DIR}/test -I${CMAKE_SOURCE_DIR}/test/gpu ${SOURCE}
    DEPENDS ${SOURCE} ${TOOLCHAINS}/compile.sh ${KERNEL_TOOLCHAIN}/made-of
    DEPFILE ${OBJECT}.d
    VERBATIM)
  set(${RESULT} ${OBJECT} PARENT_SCOPE)
endfunction()

# In test builds: the tests on a device of that vendor. Not part of `all`: they need one.
function(add_vendor_tests VENDOR TOOLCHAIN)
  set(KERNEL_VENDOR ${VENDOR})
  set(KERNEL_TOOLCHAIN ${TOOLCHAIN})
  set(KERNEL_COMMAND ${ARGN})
  set(LIBRARY llmservice_gpu_${VENDOR})
  get_target_property(SOURCES llmservice_${VENDOR} SOURCES)
  get_target_property(DEFINITIONS llmservice_${VENDOR}_host COMPILE_DEFINITIONS)
  get_target_property(INCLUDES llmservice_${VENDOR}_host INCLUDE_DIRECTORIES)
  get_target_property(LIBRARIES llmservice_${VENDOR} LINK_LIBRARIES)
  add_library(${LIBRARY} STATIC EXCLUDE_FROM_ALL ${SOURCES})
  add_dependencies(${LIBRARY} llmservice_${VENDOR}_kernels)
  target_compile_definitions(${LIBRARY} PUBLIC ${DEFINITIONS})
  if(INCLUDES)
    target_include_directories(${LIBRARY} SYSTEM PUBLIC ${INCLUDES})
  endif()
  target_link_libraries(${LIBRARY} PUBLIC ${LIBRARIES})
  add_gpu_tests(${VENDOR} ${LIBRARY} compile_kernel_test)
  add_device_fault(${VENDOR} ${LIBRARY} compile_kernel_test)
  add_gpu_bench(${VENDOR} ${LIBRARY})
endfunction()

# The library: host code, kernels, and of ops/ what they use; nothing but its entry points is seen from outside. TARGETS
# are the processors that it has code for.
function(add_gpu_library VENDOR TARGETS)
  set(NAME llmservice_${VENDOR})
  file(GLOB HOST_SOURCES CONFIGURE_DEPENDS ${GPU}/*.cpp ${GPU}/vendor/targets.cpp
       ${GPU}/vendor/${VENDOR}*.cpp)
  # By itself it waits for no kernel.
  add_library(${NAME}_host OBJECT ${HOST_SOURCES})
  set_target_properties(${NAME}_host PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  string(TOUPPER ${VENDOR} DEFINE)
  string(JOIN " " TARGETS ${TARGETS})
  target_compile_definitions(${NAME}_host PRIVATE LLMSERVICE_GPU_${DEFINE} LLMSERVICE_GPU_TARGETS="${TARGETS}")
  target_link_libraries(${NAME}_host PRIVATE llmservice_ops)
  add_library(${NAME} SHARED $<TARGET_OBJECTS:${NAME}_host> ${OBJECTS})
  add_dependencies(${NAME} llmservice_${VENDOR}_kernels)
  set_target_properties(${NAME} PROPERTIES PREFIX "" LINKER_LANGUAGE CXX)
  target_link_libraries(${NAME} PRIVATE llmservice_ops)
  target_link_options(${NAME} PRIVATE -Wl,--exclude-libs,ALL -Wl,-z,defs)
endfunction()

if(GPU_CUDA)
  set(CUDA ${CMAKE_SOURCE_DIR}/../.build/cuda)
  execute_process(COMMAND ${TOOLCHAINS}/cuda.sh ${CUDA} COMMAND_ERROR_IS_FATAL ANY)
  list(GET GPU_CUDA_TARGETS -1 NEWEST)
  string(REPLACE sm_ compute_ PTX ${NEWEST})
  foreach(TARGET IN LISTS GPU_CUDA_TARGETS)
    string(REPLACE sm_ compute_ VIRTUAL ${TARGET})
    list(APPEND CUDA_IMAGES -gencode=arch=${VIRTUAL},code=${TARGET})
  endforeach()
  list(APPEND CUDA_IMAGES -gencode=arch=${PTX},code=${PTX})
  set(CUDA_COMMAND ${CUDA}/bin/nvcc ${KERNEL_FLAGS} ${CUDA_IMAGES} -DLLMSERVICE_GPU_CUDA -fmad=false -Xptxas=-v
      -Xcompiler=-fPIC,-fvisibility=hidden,-ffp-contract=off)
  compile_kernels(cuda ${CUDA} ${CUDA_COMMAND})
  add_gpu_library(cuda "${GPU_CUDA_TARGETS};${PTX}")
  target_include_directories(llmservice_cuda_host SYSTEM PRIVATE ${CUDA}/include)
  target_link_libraries(llmservice_cuda PRIVATE ${CUDA}/lib/libcudart_static.a rt dl)
  if(BUILD_TESTS)
    add_vendor_tests(cuda ${CUDA} ${CUDA_COMMAND})
  endif()
endif()

if(GPU_HIP)
  set(HIP ${CMAKE_SOURCE_DIR}/../.build/hip)
  execute_process(COMMAND ${TOOLCHAINS}/hip.sh ${HIP} COMMAND_ERROR_IS_FATAL ANY)
  list(TRANSFORM GPU_HIP_TARGETS PREPEND --offload-arch= OUTPUT_VARIABLE HIP_IMAGES)
  # Version 5 is what ROCm 6 and later read and Debian's device library knows.
  set(HIP_COMMAND /usr/lib/llvm-19/bin/clang++ -x hip ${KERNEL_FLAGS} ${HIP_IMAGES} -DLLMSERVICE_GPU_HIP -Wall -Wextra
      -ffp-contract=off -fPIC -fvisibility=hidden --rocm-path=/usr --rocm-device-lib-path=${HIP}
      -mcode-object-version=5)
  compile_kernels(hip ${HIP} ${HIP_COMMAND})
  add_gpu_library(hip "${GPU_HIP_TARGETS}")
  target_compile_definitions(llmservice_hip_host PRIVATE __HIP_PLATFORM_AMD__)
  target_link_libraries(llmservice_hip PRIVATE dl)
  if(BUILD_TESTS)
    add_vendor_tests(hip ${HIP} ${HIP_COMMAND})
  endif()
endif()
